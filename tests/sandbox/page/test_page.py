"""The page: what it shows, what it does, and whom it keeps out."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import bot.sandbox
from bot.sandbox import ManualClock, Permissions, Sandbox
from tests.sandbox.answers.test_interactions import said_with_button
from tests.sandbox.clients import PATIENCE, Client, Home, Http, make_home, running
from tests.sandbox.gestures.test_commands import registered


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

    async def sees(self, place: int) -> dict[str, Any]:
        """Return the first of each event that the live view sends."""
        async with self.watches(place) as news:
            seen: dict[str, Any] = {}
            while "state" not in seen or ("messages" not in seen and seen["state"]["here"]):
                name, data = await anext(news)
                seen[name] = data
            return seen

    @asynccontextmanager
    async def watches(self, place: int) -> AsyncIterator[AsyncIterator[tuple[str, Any]]]:
        query = {"as": str(self.home.alice.id), "place": str(place)}
        async with self.session.get(f"{self.sandbox.url}/page/live", params=query) as response:
            yield events(response)


async def events(response: aiohttp.ClientResponse) -> AsyncIterator[tuple[str, Any]]:
    name = ""
    async for line in response.content:
        if line.startswith(b"event: "):
            name = line.removeprefix(b"event: ").decode().strip()
        elif line.startswith(b"data: "):
            yield name, json.loads(line.removeprefix(b"data: "))


@pytest.fixture
async def visitor(home: Home, sandbox: Sandbox) -> AsyncIterator[Visitor]:
    async with aiohttp.ClientSession() as session:
        yield Visitor(session, sandbox, home)


PAGE = Path(bot.sandbox.__file__).parent / "page" / "static"


async def test_its_files_are_served(sandbox: Sandbox, visitor: Visitor) -> None:
    paths = [f"{sandbox.url}/page/{each.name}" for each in PAGE.iterdir() if each.suffix != ".html"]
    for path in (sandbox.page_url, *paths):
        async with visitor.session.get(path) as response:
            assert response.status == 200
            assert "default-src 'self'" in response.headers["Content-Security-Policy"]
    for name in ("secret.txt", "index.html", "..%2Fserver.py"):
        async with visitor.session.get(f"{sandbox.url}/page/{name}") as response:
            assert response.status == 404


def test_nothing_written_by_others_becomes_markup() -> None:
    for script in PAGE.glob("*.js"):
        for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert danger not in script.read_text(), script.name


def test_nothing_comes_from_elsewhere() -> None:
    for file in PAGE.iterdir():
        found = re.findall(r"(?:src|href|import|url)\W{1,3}(?:https?:)?//\S+", file.read_text())
        assert found == [], file.name


async def test_an_upload_never_runs_as_the_page(
    home: Home, sandbox: Sandbox, visitor: Visitor
) -> None:
    page = b"<script>fetch('/page/says')</script>"
    said = await home.alice.says("", in_=home.general, attachments=[("x.html", page)])
    url = (await visitor.sees(home.general.id))["messages"][0]["files"][0]["url"]
    assert url.startswith(f"/attachments/{home.general.id}/{said.attachments[0].id}/")
    async with visitor.session.get(sandbox.url + url) as response:
        assert response.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
async def test_another_site_is_kept_out(
    sandbox: Sandbox, visitor: Visitor, headers: dict[str, str]
) -> None:
    for path in ("/", "/page/live", "/api/v10/gateway", "/attachments/1/1/x"):
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


async def test_only_what_changed_is_sent(home: Home, visitor: Visitor) -> None:
    first = await home.mod.says("first", in_=home.general)
    second = await home.mod.says("second", in_=home.general)
    async with visitor.watches(home.general.id) as news:
        name, state = await anext(news)
        assert (name, [each["name"] for each in state["people"]]) == ("state", ["alice", "mod"])
        name, messages = await anext(news)
        assert (name, [each["content"] for each in messages]) == ("messages", ["first", "second"])
        await home.mod.edits(second, "another")
        assert (await anext(news))[1]["content"] == "another"
        await home.alice.reacts(first, "☕")
        name, message = await anext(news)
        assert (name, message["id"]) == ("message", str(first.id))
        assert message["reactions"] == [{"emoji": "☕", "count": 1, "me": True}]
        await home.mod.deletes(first)
        assert await anext(news) == ("gone", {"id": str(first.id)})
        assert await visitor.does("says", text="hello <b>") == (
            200,
            {"message": str(home.general.messages[-1].id)},
        )
        seen = [await anext(news), await anext(news)]
        assert [each[0] for each in seen] == ["state", "message"]  # the place has a latest message


async def test_who_may_not_look_sees_nothing(home: Home, visitor: Visitor) -> None:
    private = home.mod.dm(home.bot)
    seen = await visitor.sees(private.id)
    assert seen["state"]["here"] is None
    assert seen["state"]["directs"] == []
    assert str(private.id) not in seen["state"]["names"]["places"]
    assert (await visitor.does("says", text="hi", place=str(private.id)))[0] == 400
    assert private.messages == []


async def test_typing_is_shown_until_something_is_said(home: Home, visitor: Visitor) -> None:
    assert await visitor.does("types") == (200, {})
    await home.mod.types(in_=home.general)
    typing = (await visitor.sees(home.general.id))["state"]["here"]["typing"]
    assert [each["name"] for each in typing] == ["mod"]  # not oneself
    await home.mod.says("there", in_=home.general)
    assert (await visitor.sees(home.general.id))["state"]["here"]["typing"] == []


async def test_people_are_told_apart_by_what_they_may(home: Home, visitor: Visitor) -> None:
    home.world.person("zoe", about="asks a lot")
    home.world.person("yan")
    people = (await visitor.sees(home.general.id))["state"]["people"]
    assert {each["name"]: each["about"] for each in people} == {
        "alice": "member",
        "mod": "moderator",
        "zoe": "asks a lot",
        "yan": "not in the server",
    }


async def test_what_messages_show(home: Home, visitor: Visitor) -> None:
    helpers = home.guild.role("helpers", mentionable=True)
    home.guild.give(home.alice, helpers)
    said = await home.mod.says(f"{helpers.mention} look", in_=home.general)
    thread = await home.mod.opens_thread("looking", on=said)
    await home.mod.adds(home.alice, to=thread)
    reply = await home.mod.says("here", in_=home.general, reply_to=said)
    await home.mod.deletes(reply)
    answer = await home.alice.says("where?", in_=home.general, reply_to=said)
    shown = {each["id"]: each for each in (await visitor.sees(home.general.id))["messages"]}
    assert shown[str(said.id)]["pings"]
    assert shown[str(said.id)]["thread"] == {"id": str(thread.id), "name": "looking", "count": 0}
    assert str(reply.id) not in shown
    assert shown[str(answer.id)]["reply"]["text"] == said.content
    await home.mod.deletes(said)
    shown = {each["id"]: each for each in (await visitor.sees(home.general.id))["messages"]}
    assert shown[str(answer.id)]["reply"] == {"gone": True}
    inside = (await visitor.sees(thread.id))["messages"]
    assert [(each["kind"], each.get("mentioned")) for each in inside] == [
        ("THREAD_STARTER", None),
        ("MEMBER_ADDED", "alice"),
    ]


async def answered(home: Home, http: Http, text: str) -> None:
    """Answer the next interaction privately."""
    found = await home.world.pulse.until(
        lambda: next(
            (each for each in home.world.interactions.values() if not each.response), None
        ),
        PATIENCE,
        lambda: "nothing to answer",
    )
    body = {"type": 4, "data": {"content": text, "flags": 64}}
    await http("POST", f"/interactions/{found.id}/{found.token}/callback", body)


async def test_a_button_is_clicked(home: Home, http: Http, visitor: Visitor) -> None:
    shown = await said_with_button(home, http)
    waiting = asyncio.create_task(answered(home, http, "just for you"))
    result = await visitor.does("clicks", message=str(shown.id), button="go")
    assert result == (200, {"failed": False})
    await waiting
    messages = (await visitor.sees(home.general.id))["messages"]
    assert [each.get("ephemeral", False) for each in messages] == [False, True]
    assert (await visitor.does("clicks", message="1", button="go"))[0] == 400


OPTIONS = [
    {"name": name, "type": kind, "description": "x"}
    for name, kind in {"text": 3, "count": 4, "sure": 5, "who": 6, "where": 7, "size": 10}.items()
]


async def test_a_command_is_typed(home: Home, http: Http, visitor: Visitor) -> None:
    await registered(home, http, {"name": "go", "description": "Go", "options": OPTIONS})
    waiting = asyncio.create_task(answered(home, http, "went"))
    typed = '/go text:"two words" count:3 sure:yes who:@mod where:#general size:0.5'
    assert await visitor.does("says", text=typed) == (200, {"failed": False})
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
    commands = (await visitor.sees(home.general.id))["state"]["here"]["commands"]
    assert [each["name"] for each in commands] == ["go"]


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
    (shown,) = (await visitor.sees(home.general.id))["messages"]
    assert shown["thread"]["name"] == "story"
    seen = (await visitor.sees(home.general.id))["state"]
    assert [each["name"] for each in seen["guilds"][0]["channels"][0]["threads"]] == ["story"]
    assert [each["name"] for each in seen["directs"]] == ["Parley"]


async def test_a_subcommand_stands_by_itself(home: Home, http: Http, visitor: Visitor) -> None:
    use = {"name": "use", "type": 1, "description": "Use one", "options": []}
    await registered(home, http, {"name": "model", "description": "Models", "options": [use]})
    (command,) = (await visitor.sees(home.general.id))["state"]["here"]["commands"]
    assert (command["name"], command["description"]) == ("model use", "Use one")


async def test_what_a_request_lacks_is_told(home: Home, visitor: Visitor) -> None:
    lacking: dict[str, dict[str, Any]] = {
        "says": {},
        "edits": {"message": "x", "text": "y"},
        "deletes": {"message": "1"},
        "submits": {"modal": "1", "fields": {}},
        "breaks": {"name": "the bank"},
        "opens": {"message": "1", "name": "x"},
        "types": {"as": "1"},
    }
    for action, body in lacking.items():
        status, answer = await visitor.does(action, **body)
        assert (status, list(answer)) == (400, ["error"]), action
    url = f"{visitor.sandbox.url}/page/says"
    headers = {"X-Sandbox-Token": visitor.token}
    async with visitor.session.post(url, json=[], headers=headers) as response:
        assert response.status == 400
    async with visitor.session.post(f"{url}-so", json={}, headers=headers) as response:
        assert response.status == 404


async def test_requests_are_told_as_they_come(home: Home, http: Http, visitor: Visitor) -> None:
    await http("GET", f"/channels/{home.general.id}")
    url = f"{visitor.sandbox.url}/page/requests"
    async with visitor.session.get(url) as response:
        news = events(response)
        name, (first,) = await anext(news)
        assert (name, first["method"], first["status"]) == ("requests", "GET", 200)
        await http("GET", "/channels/1")
        name, (second,) = await anext(news)
        assert (second["number"], second["status"]) == (1, 404)


async def test_a_permission_is_taken_and_given_back(home: Home, visitor: Visitor) -> None:
    home.guild.permits(home.bot, in_=home.general, deny=["ADD_REACTIONS"])
    status, answer = await visitor.does("breaks", name="mute")
    assert (status, answer["done"]) == (200, "Parley may not write any more in #general.")
    granted = home.general.permissions_for(home.bot)
    assert Permissions.SEND_MESSAGES not in granted
    thread = await home.alice.opens_thread("x", in_=home.general)
    assert (await visitor.does("breaks", name="mute", place=str(thread.id)))[0] == 200
    granted = home.general.permissions_for(home.bot)
    assert Permissions.SEND_MESSAGES in granted
    assert Permissions.ADD_REACTIONS not in granted
    direct = home.alice.dm(home.bot)
    status, answer = await visitor.does("breaks", name="mute", place=str(direct.id))
    assert (status, answer["error"]) == (400, "in a DM there is no permission to take away")


async def test_a_bot_is_online_as_long_as_it_is_connected(home: Home, visitor: Visitor) -> None:
    async def online() -> list[bool]:
        bots = (await visitor.sees(home.general.id))["state"]["bots"]
        return [each["online"] for each in bots]

    assert await online() == [False]
    client = Client()
    async with running(client, home.bot):
        assert await online() == [True]
        home.world.faults.drops(home.bot)
        assert await online() == [False]  # its session waits to be resumed
        await visitor.sandbox.connected(home.bot)
    assert await online() == [False]


async def test_a_message_is_posted_and_its_answer_lost(
    home: Home, http: Http, visitor: Visitor
) -> None:
    assert (await visitor.does("breaks", name="lose"))[0] == 200
    path = f"/channels/{home.general.id}/messages"
    assert (await http("POST", path, {"content": "once"}))[0] == 500
    assert [each.content for each in home.general.messages] == ["once"]
    assert (await http("POST", path, {"content": "more"}))[0] == 200


class TestByTheClock:
    """What ends by itself."""

    @pytest.fixture(name="clock")
    def _clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture(name="home")
    def _home(self, clock: ManualClock) -> Home:
        return make_home(clock=clock)

    async def test_limits_are_over_after_ten_seconds(
        self, home: Home, http: Http, visitor: Visitor, clock: ManualClock
    ) -> None:
        assert (await visitor.does("breaks", name="limit"))[0] == 200
        path = f"/channels/{home.general.id}/messages"
        status, body = await http("POST", path, {"content": "x"})
        assert (status, body["retry_after"]) == (429, 3)
        assert home.world.requests[-1].limits == {"Retry-After": "3"}
        clock.advance(10)
        await asyncio.sleep(0)
        assert (await http("POST", path, {"content": "x"}))[0] == 200
        await visitor.does("breaks", name="limit")  # and is not waited for at the end


async def test_without_a_hook_there_is_no_restart(home: Home, visitor: Visitor) -> None:
    offered = (await visitor.sees(home.general.id))["state"]["breakages"]
    assert [each["name"] for each in offered] == ["drop", "lose", "limit", "mute"]
