"""The command line, as people run it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import discord
import pytest

from bot.check import PERMISSIONS, invite_url
from bot.playground.serve import STARTING
from bot.sandbox import World
from bot.sandbox.model import DemoModel, ScriptedModel, serve_model
from tests.commands import Ended, printed, run, running, stopped
from tests.setups import Setup, set_up

PRICE = """
from bot import tool

@tool
def price(item: str) -> str:
    "Look up what something costs."
    return "9.50"
"""


@pytest.mark.parametrize("arguments", [(), ("fly",), ("chat", ""), ("sandbox", "--port", "x")])
async def test_what_cannot_be_run_is_told_with_the_usage(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    ended = await run(*arguments, in_=tmp_path)
    assert ended.status == 2
    assert ended.err.startswith("usage: python -m bot")


async def test_help_and_version_tell_what_it_is(tmp_path: Path) -> None:
    helped, version = await asyncio.gather(
        run("--help", in_=tmp_path, fresh=True), run("--version", in_=tmp_path, fresh=True)
    )
    for each in ("run", "sandbox", "chat", "check"):
        assert f"    {each} " in helped.out
    assert version.out.startswith("Parley ")
    assert (helped.status, version.status) == (0, 0)


@pytest.mark.parametrize("name", ["run", "chat", "check", "sandbox"])
async def test_a_file_that_is_not_there_is_told(name: str, tmp_path: Path) -> None:
    ended = await run(name, "--env-file", "nowhere.env", in_=tmp_path)
    assert ended.status == 2
    assert "there is no file nowhere.env" in ended.out + ended.err


@pytest.mark.parametrize("name", ["run", "chat", "check"])
async def test_wrong_settings_are_all_named_and_no_stack_is_shown(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "wrong.env").write_text("MAX_STEPS=none\nDISCORD_TOKEN=a\n")
    ended = await run(name, "--env-file", "wrong.env", in_=tmp_path)
    assert ended.status == 2
    told = ended.out + ended.err
    assert "MAX_STEPS must be a whole number, not 'none'." in told
    assert "OPENAI_API_KEY is missing." in told
    assert "Traceback" not in told


@pytest.fixture
async def home() -> AsyncIterator[Setup]:
    async with set_up() as made:
        yield made


def findings(ended: Ended) -> dict[str, tuple[str, str]]:
    """Return what `check` found out, by subject."""
    lines = [line.split(maxsplit=2) for line in ended.out.splitlines()]
    return {subject: (verdict, text) for verdict, subject, text in lines}


async def test_check_finds_that_all_is_well(home: Setup, tmp_path: Path) -> None:
    home.model.says("ok")
    ended = await run("check", in_=tmp_path, settings=home.settings)
    assert ended.err == ""
    assert ended.status == 0
    assert findings(ended) == {
        "settings": ("ok", "complete"),
        "token": ("ok", "it is that of Parley"),
        "intents": ("ok", "Message Content is switched on"),
        "interactions": ("ok", "commands and clicks come to the bot"),
        "servers": ("ok", f"it is in 1; invite it: {invite_url(str(home.bot.id))}"),
        "database": ("ok", "parley.db can be written"),
        "model": ("ok", "scripted (openai_compatible) answered"),
    }


async def test_check_tells_what_to_do_about_each_thing(tmp_path: Path) -> None:
    world = World()
    bot = world.bot("Parley", privileged=[])
    (tmp_path / "parley.db").write_text("this is no database, whatever its name says")
    (tmp_path / ".env").write_text("DISCORD_TOKN=x\n")
    async with set_up(world, servers=0) as setup:
        setup.model.fails(401)
        ended = await run("check", in_=tmp_path, settings=setup.settings)
    found = findings(ended)
    assert ended.status == 1
    assert found["settings"][1].endswith("names DISCORD_TOKN, which Parley does not know")
    assert found["servers"][1].endswith(invite_url(str(bot.id)))
    assert found["intents"] == (
        "FAIL",
        "switch on Message Content Intent (developer portal, page Bot)",
    )
    assert found["database"][0] == found["model"][0] == "FAIL"
    assert "Traceback" not in ended.err


async def test_certificates_that_cannot_be_read_are_told(home: Setup, tmp_path: Path) -> None:
    wrong = {**home.settings, "SSL_CERT_FILE": "/nowhere/all.pem"}
    checked = await run("check", in_=tmp_path, settings=wrong)
    verdict, text = findings(checked)["model"]
    assert (checked.status, verdict) == (1, "FAIL")
    assert "SSL_CERT_FILE" in text
    started = await run("run", in_=tmp_path, settings=wrong)
    assert started.status == 2
    assert "SSL_CERT_FILE" in started.err
    assert "Traceback" not in started.err + checked.err


async def test_check_tells_a_wrong_token_from_a_discord_that_is_away(
    home: Setup, tmp_path: Path
) -> None:
    home.model.says("ok").then("ok")
    wrong = await run("check", in_=tmp_path, settings={**home.settings, "DISCORD_TOKEN": "wrong"})
    away = {**home.settings, "DISCORD_API_BASE": "http://127.0.0.1:9"}
    unreachable = await run("check", in_=tmp_path, settings=away)
    assert findings(wrong)["token"][1].startswith("Discord refuses DISCORD_TOKEN")
    assert findings(unreachable)["discord"][1].startswith("Discord cannot be reached")
    assert wrong.status == unreachable.status == 1


def test_the_invitation_asks_for_what_the_bot_does() -> None:
    assert (
        discord.Permissions(
            view_channel=True,
            send_messages=True,
            attach_files=True,
            read_message_history=True,
            create_public_threads=True,
            send_messages_in_threads=True,
        ).value
        == PERMISSIONS
    )
    assert "scope=bot+applications.commands" in invite_url("1")


async def test_the_sandbox_serves_a_page_until_it_is_stopped(tmp_path: Path) -> None:
    async with running("sandbox", "--port", "0", in_=tmp_path) as process:
        shown = await printed(process, "Ctrl-C ends it")
        assert shown.startswith(STARTING)
        assert "no AI model" in shown
        async with aiohttp.ClientSession() as session, session.get(address_in(shown)) as page:
            assert "Write a message" in await page.text()
        ended = await stopped(process)
    assert ended.status == 0
    assert "Traceback" not in ended.err


async def test_a_sandbox_needs_a_port_of_its_own(tmp_path: Path) -> None:
    async with serve_model(DemoModel()) as taken:
        port = taken.base_url.split(":")[2].split("/")[0]
        ended = await run("sandbox", "--port", port, in_=tmp_path)
    assert ended.status == 1
    assert f"port {port} cannot be used, choose another --port" in ended.err


async def test_the_sandbox_uses_a_real_model_where_one_is_set_up(tmp_path: Path) -> None:
    model = ScriptedModel()
    gate = model.pauses()
    async with serve_model(model) as service:
        (tmp_path / ".env").write_text(
            f"OPENAI_BASE_URL={service.base_url}\nOPENAI_API_KEY=key\nMODEL=mine\n"
            "DISCORD_TOKEN=real\nALLOWED_USERS=5\nSYSTEM_PROMPT=Be a pirate.\n"
        )
        async with running("sandbox", "--port", "0", in_=tmp_path) as process:
            shown = await printed(process, "Ctrl-C ends it")
            await say_until(gate.reached, in_="talk", page=address_in(shown))
            ended = await stopped(process)
    assert "Its answers come from mine (openai_compatible)" in shown
    assert ended.status == 0
    assert model.headers[0]["Authorization"] == "Bearer key"
    assert model.requests[0]["model"] == "mine"
    assert model.requests[0]["messages"][0]["content"].startswith("Be a pirate.")


async def test_the_sandbox_has_the_tools_of_the_settings_too(tmp_path: Path) -> None:
    model = ScriptedModel()
    gate = model.pauses()
    async with serve_model(model) as service:
        (tmp_path / "my_tools.py").write_text(PRICE)
        (tmp_path / ".env").write_text(
            f"OPENAI_BASE_URL={service.base_url}\nMODEL=mine\nTOOLS=roll_dice, my_tools.py\n"
        )
        async with running("sandbox", "--port", "0", in_=tmp_path) as process:
            shown = await printed(process, "Ctrl-C ends it")
            await say_until(gate.reached, in_="talk", page=address_in(shown))
    offered = [each["function"]["name"] for each in model.requests[0]["tools"]]
    assert {"roll_dice", "announce", "price"} <= set(offered)
    assert len(offered) == len(set(offered))


def address_in(shown: str) -> str:
    """Return the page's address as the sandbox prints it."""
    [address] = [line.strip() for line in shown.splitlines() if "http://" in line]
    return address


async def say_until(event: asyncio.Event, *, in_: str, page: str) -> None:
    """Say something through the page, again and again: the bot may not be there yet."""
    base, token = page.split("?token=")
    async with aiohttp.ClientSession(base, headers={"X-Sandbox-Token": token}) as session:
        async with session.get("/page/live") as live:
            while not (line := await live.content.readline()).startswith(b"data: "):
                pass
            seen = json.loads(line.removeprefix(b"data: "))
        person = seen["people"][0]["id"]
        [place] = [number for number, name in seen["names"]["places"].items() if name == in_]
        while not event.is_set():
            body = {"as": person, "place": place, "text": "hello"}
            async with session.post("/page/says", json=body) as said:
                assert said.status == 200
            with suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), 0.5)


async def test_a_sandbox_with_half_a_model_tells_what_is_missing(tmp_path: Path) -> None:
    settings = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    ended = await run("sandbox", "--port", "0", in_=tmp_path, settings=settings)
    assert ended.status == 2
    assert "OPENAI_MODEL is missing" in ended.err
