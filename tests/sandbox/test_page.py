"""The page: what it shows, what it does, and whom it keeps out."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import bot.sandbox
from bot.sandbox import Sandbox
from tests.sandbox.clients import Home, Http
from tests.sandbox.test_commands import registered
from tests.sandbox.test_interactions import said_with_button


class Visitor:
    """Someone at a browser."""

    def __init__(self, session: aiohttp.ClientSession, sandbox: Sandbox, home: Home) -> None:
        self.session, self.sandbox, self.home = session, sandbox, home
        self.token = sandbox.page_url.partition("token=")[2]

    async def does(self, action: str, **body: Any) -> tuple[int, Any]:
        body = {"as": str(self.home.alice.id), "place": str(self.home.general.id)} | body
        url = f"{self.sandbox.url}/page/{action}"
        headers = {"X-Sandbox-Token": self.token, "Origin": self.sandbox.url}
        async with self.session.post(url, json=body, headers=headers) as response:
            return response.status, await response.json()

    async def sees(self, place: int) -> Any:
        """Return the first thing that the live view sends."""
        query = {"as": str(self.home.alice.id), "place": str(place)}
        async with self.session.get(f"{self.sandbox.url}/page/live", params=query) as response:
            return json.loads((await response.content.readline()).removeprefix(b"data: "))


@pytest.fixture
async def visitor(home: Home, sandbox: Sandbox) -> AsyncIterator[Visitor]:
    async with aiohttp.ClientSession() as session:
        yield Visitor(session, sandbox, home)


async def test_its_files_are_served(sandbox: Sandbox, visitor: Visitor) -> None:
    for path in (sandbox.page_url, f"{sandbox.url}/page/app.js", f"{sandbox.url}/page/style.css"):
        async with visitor.session.get(path) as response:
            assert response.status == 200
            assert "default-src 'self'" in response.headers["Content-Security-Policy"]
    async with visitor.session.get(f"{sandbox.url}/page/secret.txt") as response:
        assert response.status == 404


def test_nothing_written_by_others_becomes_markup() -> None:
    script = (Path(bot.sandbox.__file__).parent / "page" / "app.js").read_text()
    for danger in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("):
        assert danger not in script


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
async def test_another_site_is_kept_out(
    sandbox: Sandbox, visitor: Visitor, headers: dict[str, str]
) -> None:
    for path in ("/", "/page/live"):
        async with visitor.session.get(sandbox.url + path, headers=headers) as response:
            assert response.status == 403
    headers |= {"X-Sandbox-Token": visitor.token}
    url = f"{sandbox.url}/page/says"
    async with visitor.session.post(url, json={}, headers=headers) as response:
        assert response.status == 403


async def test_writing_takes_the_token(home: Home, sandbox: Sandbox, visitor: Visitor) -> None:
    url = f"{sandbox.url}/page/says"
    async with visitor.session.post(url, json={"text": "hi"}) as response:
        assert response.status == 403
    assert home.general.messages == []


async def test_what_is_said_is_seen_live(home: Home, visitor: Visitor) -> None:
    query = {"as": str(home.mod.id), "place": str(home.general.id)}
    url = f"{visitor.sandbox.url}/page/live"
    async with visitor.session.get(url, params=query) as response:
        first = json.loads((await response.content.readline()).removeprefix(b"data: "))
        assert first["inside"]["messages"] == []
        assert [each["name"] for each in first["people"]][:2] == ["alice", "mod"]
        await home.alice.types(in_=home.general)
        assert await visitor.does("says", text="hello <b>") == (200, {})
        seen: list[Any] = []
        while not seen:
            line = await response.content.readline()
            if line.startswith(b"data: "):
                seen = json.loads(line.removeprefix(b"data: "))["inside"]["messages"]
        assert [each["content"] for each in seen] == ["hello <b>"]


async def test_who_may_not_look_sees_nothing(home: Home, visitor: Visitor) -> None:
    private = home.mod.dm(home.bot)
    seen = await visitor.sees(private.id)
    assert seen["inside"] is None
    assert str(private.id) not in [each["id"] for each in seen["places"]]


async def test_typing_is_shown_until_something_is_said(home: Home, visitor: Visitor) -> None:
    await home.alice.types(in_=home.general)
    assert (await visitor.sees(home.general.id))["inside"]["typing"] == ["alice"]
    await home.alice.says("there", in_=home.general)
    assert (await visitor.sees(home.general.id))["inside"]["typing"] == []


async def answered(home: Home, http: Http, text: str) -> None:
    """Answer the next interaction privately."""
    found = await home.world.pulse.until(
        lambda: next(
            (each for each in home.world.interactions.values() if not each.response), None
        ),
        5,
        lambda: "nothing to answer",
    )
    body = {"type": 4, "data": {"content": text, "flags": 64}}
    await http("POST", f"/interactions/{found.id}/{found.token}/callback", body)


async def test_a_button_is_clicked(home: Home, http: Http, visitor: Visitor) -> None:
    shown = await said_with_button(home, http)
    waiting = asyncio.create_task(answered(home, http, "just for you"))
    result = await visitor.does("clicks", message=str(shown.id), button="go")
    assert result == (200, {"failed": False, "text": "just for you", "ephemeral": True})
    await waiting
    inside = (await visitor.sees(home.general.id))["inside"]
    assert [each["ephemeral"] for each in inside["messages"]] == [False, True]
    assert (await visitor.does("clicks", message="1", button="go"))[0] == 400


OPTIONS = [
    {"name": name, "type": kind, "description": "x"}
    for name, kind in {"text": 3, "count": 4, "sure": 5, "who": 6, "where": 7, "size": 10}.items()
]


async def test_a_command_is_typed(home: Home, http: Http, visitor: Visitor) -> None:
    await registered(home, http, {"name": "go", "description": "Go", "options": OPTIONS})
    waiting = asyncio.create_task(answered(home, http, "went"))
    typed = '/go text:"two words" count:3 sure:yes who:@mod where:#general size:0.5'
    status, body = await visitor.does("says", text=typed)
    assert (status, body["text"]) == (200, "went")
    await waiting
    (interaction,) = home.world.interactions.values()
    given = {each["name"]: each["value"] for each in interaction.data["options"]}
    assert given == {
        "text": "two words",
        "count": 3,
        "sure": True,
        "who": str(home.mod.id),
        "where": str(home.general.id),
        "size": 0.5,
    }
    inside = (await visitor.sees(home.general.id))["inside"]
    assert [each["name"] for each in inside["commands"]] == ["go"]


@pytest.mark.parametrize("typed", ["/nothing", "/go size:big", "/go who:nobody", "/go pace:slow"])
async def test_what_cannot_be_run_is_told(
    home: Home, http: Http, visitor: Visitor, typed: str
) -> None:
    await registered(home, http, {"name": "go", "description": "Go", "options": OPTIONS})
    status, body = await visitor.does("says", text=typed)
    assert status == 400
    assert body["error"]


async def test_a_dm_and_a_thread_are_opened(home: Home, visitor: Visitor) -> None:
    _, opened = await visitor.does("opens")
    assert opened["place"] == str(home.alice.dm(home.bot).id)
    said = await home.alice.says("a story", in_=home.general, attachments=[("a.txt", b"a")])
    _, opened = await visitor.does("opens", message=str(said.id), name="story")
    assert opened["place"] == str(said.id)
    seen = await visitor.sees(home.general.id)
    assert seen["inside"]["messages"][0]["thread"] == str(said.id)
