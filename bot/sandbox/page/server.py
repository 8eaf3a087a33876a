"""The page at ``/``: the sandbox for a person with a browser.

It is for the person who started it. Other sites in the same browser are kept out: writing takes
the token of the printed address, and requests with a foreign Host or Origin are refused. Other
programs on the machine are not kept out of reading.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.sandbox.page import views
from bot.sandbox.page.actions import ACTIONS, breaking, done
from bot.sandbox.page.breakages import Breakage
from bot.sandbox.page.live import PlaceFeed, RequestFeed, stream
from bot.sandbox.page.visits import Visit
from bot.sandbox.people.person import Person
from bot.sandbox.refusals.errors import Json
from bot.sandbox.world import World

FILES = Path(__file__).parent / "static"
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
TOKEN_HEADER = "X-Sandbox-Token"  # noqa: S105 - a header's name
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
Served = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Page:
    """The page's files, its live view, and what a visitor can do.

    Args:
        notice: A sentence that every visitor is shown, in Discord's Markdown.
    """

    def __init__(
        self, world: World, token: str, *, notice: str | None, breakages: dict[str, Breakage]
    ) -> None:
        self._world, self._token = world, token
        self._actions = ACTIONS | {"breaks": breaking(breakages)}
        self._extras: Json = {
            "notice": notice,
            "breakages": [
                {"name": each.name, "label": each.label, "about": each.about}
                for each in breakages.values()
            ],
        }
        self._open = True

    def add_routes(self, app: web.Application) -> None:
        """Add the page to a server."""
        app.router.add_get("/", self._index)
        app.router.add_get("/page/live", self._live)
        app.router.add_get("/page/requests", self._requests)
        app.router.add_get("/page/{name}", self._file)
        app.router.add_post("/page/{action}", self._act)

    def close(self) -> None:
        """End the live views."""
        self._open = False
        self._world.pulse.beat()

    async def _index(self, _: web.Request) -> web.StreamResponse:
        return _static("index.html", "text/html")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        known = {each.name for each in FILES.iterdir()}
        kind = KINDS.get(Path(name).suffix)
        if name not in known or kind is None:
            raise web.HTTPNotFound
        return _static(name, kind)

    async def _live(self, request: web.Request) -> web.StreamResponse:
        """Send what the person sees, and again whenever it has changed."""
        person = self._person(request.query.get("as"))
        wanted = request.query.get("place", "")
        place = self._world.places.get(int(wanted) if wanted.isdecimal() else 0)
        feed = PlaceFeed(self._world, person, place, self._extras)
        return await stream(request, self._world, feed, HEADERS, lambda: self._open)

    async def _requests(self, request: web.Request) -> web.StreamResponse:
        """Send the requests that the bots made, and go on making."""
        feed = RequestFeed(self._world)
        return await stream(request, self._world, feed, HEADERS, lambda: self._open)

    def _person(self, number: object) -> Person:
        people = views.people(self._world)
        return next((each for each in people if str(each.id) == str(number)), people[0])

    async def _act(self, request: web.Request) -> web.StreamResponse:
        token = request.headers.get(TOKEN_HEADER, "")
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            raise web.HTTPForbidden(text="open the address that was printed")
        action = self._actions.get(request.match_info["action"])
        if action is None:
            raise web.HTTPNotFound
        try:
            result = await done(action, await self._visit(request))
        except (LookupError, ValueError, PermissionError, TimeoutError) as error:
            text = error.args[0] if error.args else error
            return web.json_response({"error": str(text)}, status=400)
        return web.json_response(result)

    async def _visit(self, request: web.Request) -> Visit:
        """Read what is to be done, and as whom: JSON, or a form with that JSON and files."""
        if request.content_type != "multipart/form-data":
            body, files = await request.json(), {}
        else:
            form = await request.post()
            body = json.loads(str(form["body"]))
            files = {
                f"{name}": (each.filename, each.file.read())
                for name, each in form.items()
                if isinstance(each, web.FileField)
            }
        if not isinstance(body, dict):
            raise ValueError("the body is no object")
        who = str(body.get("as"))
        for each in views.people(self._world):
            if str(each.id) == who:
                return Visit(each, body, files)
        raise LookupError("nobody is called that")


def _static(name: str, kind: str) -> web.Response:
    text = (FILES / name).read_text(encoding="utf-8")
    return web.Response(text=text, content_type=kind, headers=HEADERS)


@web.middleware
async def keep_out_other_sites(request: web.Request, handler: Any) -> web.StreamResponse:
    """Refuse what another site makes the browser send, by a name or as its own request."""
    port = request.transport.get_extra_info("sockname")[1] if request.transport else 0
    hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
    origin = request.headers.get("Origin")
    if request.host not in hosts or origin not in (None, *(f"http://{each}" for each in hosts)):
        raise web.HTTPForbidden(text="not from here")
    response: web.StreamResponse = await handler(request)
    return response
