"""The page at ``/``: the sandbox for a person with a browser.

It is for the person who started it. Other sites in the same browser are kept out: writing takes
the token of the printed address, and requests with a foreign Host or Origin are refused. Other
programs on the machine are not kept out of reading.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.sandbox import typed_text, views
from bot.sandbox.answers import Answer
from bot.sandbox.channels import Place
from bot.sandbox.messages import Message
from bot.sandbox.people import Person
from bot.sandbox.world import World

FILES = Path(__file__).parent / "page"
KINDS = {"app.js": "text/javascript", "style.css": "text/css"}
TOKEN_HEADER = "X-Sandbox-Token"  # noqa: S105 - a header's name
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
Served = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Page:
    """The page's files, its live view, and what a visitor can do."""

    def __init__(self, world: World, token: str) -> None:
        self._world, self._token = world, token
        self._open = True

    def add_routes(self, app: web.Application) -> None:
        """Add the page to a server."""
        app.router.add_get("/", self._guarded(self._index))
        app.router.add_get("/page/live", self._guarded(self._live))
        app.router.add_get("/page/{name}", self._guarded(self._file))
        app.router.add_post("/page/says", self._writing(self._says))
        app.router.add_post("/page/clicks", self._writing(self._clicks))
        app.router.add_post("/page/opens", self._writing(self._opens))

    def close(self) -> None:
        """End the live views."""
        self._open = False
        self._world.pulse.beat()

    def _guarded(self, handler: Served) -> Served:
        async def served(request: web.Request) -> web.StreamResponse:
            _refuse_foreign(request)
            return await handler(request)

        return served

    def _writing(self, action: Callable[[Any], Awaitable[Any]]) -> Served:
        async def served(request: web.Request) -> web.StreamResponse:
            _refuse_foreign(request)
            token = request.headers.get(TOKEN_HEADER, "")
            if not secrets.compare_digest(token.encode(), self._token.encode()):
                raise web.HTTPForbidden(text="open the address that was printed")
            try:
                result = await action(await request.json())
            except (LookupError, ValueError, PermissionError, TimeoutError) as error:
                return web.json_response({"error": str(error)}, status=400)
            return web.json_response(result)

        return served

    async def _index(self, _: web.Request) -> web.StreamResponse:
        return _static("index.html", "text/html")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in KINDS:
            raise web.HTTPNotFound
        return _static(name, KINDS[name])

    async def _live(self, request: web.Request) -> web.StreamResponse:
        """Send what the person sees, and again whenever it has changed."""
        person = self._person(request.query.get("as"))
        wanted = request.query.get("place", "")
        place = self._world.places.get(int(wanted) if wanted.isdecimal() else 0)
        response = web.StreamResponse(headers=HEADERS | {"Content-Type": "text/event-stream"})
        await response.prepare(request)
        sent = ""
        with suppress(ConnectionResetError):
            while self._open:
                changed = self._world.pulse.next_beat()
                seen = json.dumps(views.everything(self._world, person, place))
                if seen != sent:
                    await response.write(f"data: {seen}\n\n".encode())
                sent = seen
                await changed.wait()
        return response

    def _person(self, number: object) -> Person:
        people = views.people(self._world)
        return next((each for each in people if str(each.id) == str(number)), people[0])

    def _place(self, number: object) -> Place:
        return self._world.places[int(str(number))]

    async def _says(self, body: Any) -> Any:
        person, place = self._person(body["as"]), self._place(body["place"])
        text = str(body["text"])
        if text.startswith("/"):
            command, options = typed_text.read(person, place, text)
            return _told(await person.runs(command, in_=place, **options))
        await person.says(text, in_=place)
        return {}

    async def _clicks(self, body: Any) -> Any:
        person, place = self._person(body["as"]), self._place(body["place"])
        message = self._message(person, place, int(body["message"]))
        return _told(await person.clicks(message, str(body["button"])))

    def _message(self, person: Person, place: Place, number: int) -> Message:
        seen = [*place.history, *views.private(self._world, person, place)]
        found = next((each for each in seen if each.id == number), None)
        if found is None:
            raise LookupError("that message is gone")
        return found

    async def _opens(self, body: Any) -> Any:
        """Open the DM with a bot, or a thread on a message."""
        person = self._person(body["as"])
        if "message" in body:
            place = self._place(body["place"])
            message = self._message(person, place, int(body["message"]))
            thread = await person.opens_thread(str(body["name"]), on=message)
            return {"place": str(thread.id)}
        bot = self._world.bots[0]
        return {"place": str(person.dm(bot).id)}


def _static(name: str, kind: str) -> web.Response:
    text = (FILES / name).read_text(encoding="utf-8")
    return web.Response(text=text, content_type=kind, headers=HEADERS)


def _refuse_foreign(request: web.Request) -> None:
    """Refuse what another site makes the browser send, by a name or as its own request."""
    port = request.transport.get_extra_info("sockname")[1] if request.transport else 0
    hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
    origin = request.headers.get("Origin")
    if request.host not in hosts or origin not in (None, *(f"http://{each}" for each in hosts)):
        raise web.HTTPForbidden(text="not from here")


def _told(answer: Answer) -> Any:
    return {"failed": answer.failed, "text": answer.text, "ephemeral": answer.ephemeral}
