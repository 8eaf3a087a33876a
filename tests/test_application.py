"""A database belongs to one application of Discord: what another one may not do with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.config import load_settings
from bot.joining.resources import make_store
from bot.sandbox import Guild
from bot.sessions import SQLSessionManager
from bot.sessions.stores.marks import MarkStore
from tests.commands import run, running, stopped
from tests.postgres import Server
from tests.setups import PATIENCE, Setup, set_up

REFUSED = "belongs to another application of Discord"


@pytest.fixture(params=["sqlite", "postgres"])
async def home(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Setup]:
    """Return a setup whose bot has answered, at the desk, and was stopped."""
    async with set_up() as made:
        made.settings["DATABASE"] = str(tmp_path / "parley.db")
        if request.param == "postgres":
            server: Server = request.getfixturevalue("postgres")
            made.settings["DATABASE_URL"] = server.new_database()
        made.model.says("Hello Alice.")
        async with running("run", in_=tmp_path, settings=made.settings) as process:
            await made.sandbox.connected(made.bot, PATIENCE)
            await made.alice.says("I am Alice", in_=made.desk)
            await made.said("Hello Alice.")
            assert (await stopped(process)).status == 0
        await made.sandbox.disconnected(made.bot)
        yield made


def another(home: Setup) -> tuple[Setup, Guild]:
    """Return the setup of another application, which is in a server of its own."""
    bot = home.world.bot("Other")
    guild = home.world.guild("Elsewhere")
    guild.join(bot)
    settings = {**home.settings, "DISCORD_TOKEN": bot.token}
    return replace(home, bot=bot, settings=settings), guild


def store_of(home: Setup, folder: Path) -> SQLSessionManager:
    file = folder / "settings.env"
    file.write_text("\n".join(f"{name}={value}" for name, value in home.settings.items()))
    return make_store(load_settings(file))


async def sessions(home: Setup, folder: Path) -> list[str]:
    store = store_of(home, folder)
    try:
        return [each.session_id for each in await store.sessions_after()]
    finally:
        await store.close()


async def unmark(home: Setup, folder: Path, *keys: str) -> None:
    """Let the database be as an older release left it."""
    store = store_of(home, folder)
    for key in keys:
        await MarkStore(store.database).remove(key)
    await store.close()


@pytest.mark.parametrize("older", [False, True])
async def test_another_application_does_not_start_and_changes_nothing(
    home: Setup, tmp_path: Path, older: bool
) -> None:
    if older:
        await unmark(home, tmp_path, "application")
    other, _ = another(home)
    before = len(home.world.requests)
    ended = await run("run", in_=tmp_path, settings=other.settings)
    assert ended.status == 2
    assert REFUSED in ended.err
    assert "python -m bot adopt" in ended.err
    assert {each.method for each in home.world.requests[before:]} == {"GET"}
    assert await sessions(home, tmp_path) == [f"channel-{home.desk.id}"]


async def test_check_tells_it(home: Setup, tmp_path: Path) -> None:
    other, _ = another(home)
    home.model.says("ok").then("ok")
    told = await run("check", in_=tmp_path, settings=other.settings)
    assert told.status == 1
    assert f"FAIL  database      the database {REFUSED}" in told.out
    assert (await run("check", in_=tmp_path, settings=home.settings)).status == 0


async def test_it_is_not_adopted_while_a_bot_works_with_it(home: Setup, tmp_path: Path) -> None:
    other, _ = another(home)
    async with running("run", in_=tmp_path, settings=home.settings) as process:
        await home.sandbox.connected(home.bot, PATIENCE)
        refused = await run("adopt", in_=tmp_path, settings=other.settings)
        assert refused.status in (1, 2)
        assert refused.out == ""
        assert (await stopped(process)).status == 0
    wrong = {**other.settings, "DISCORD_TOKEN": "wrong"}
    assert "refuses DISCORD_TOKEN" in (await run("adopt", in_=tmp_path, settings=wrong)).err
    home.model.says("ok")
    assert REFUSED in (await run("check", in_=tmp_path, settings=other.settings)).out
    again = await run("adopt", in_=tmp_path, settings=home.settings)
    assert again.out == f"The database belongs to Parley ({home.bot.id}) already.\n"


async def test_one_that_adopts_it_goes_on_and_leaves_servers_as_any_does(
    home: Setup, tmp_path: Path
) -> None:
    other, elsewhere = another(home)
    desk, away = home.desk, elsewhere.channel("desk")
    other.settings["CHANNELS"] = f"{desk.id},{away.id}"
    adopted = await run("adopt", in_=tmp_path, settings=other.settings)
    assert (adopted.status, adopted.out) == (
        0,
        f"The database belongs to Other ({other.bot.id}) now.\n",
    )
    assert (await run("run", in_=tmp_path, settings=home.settings)).status == 2
    home.model.says("Hello there.").then("You are Alice.")
    alice = home.alice
    elsewhere.join(alice)
    async with running("run", in_=tmp_path, settings=other.settings) as process:
        await home.sandbox.connected(other.bot, PATIENCE)
        await alice.says("hello", in_=away)
        await away.until(lambda found: any("Hello there." in m.content for m in found), PATIENCE)
        desk.guild.join(other.bot)
        await alice.says("who am I?", in_=desk)
        await desk.until(lambda found: any("You are Alice." in m.content for m in found), PATIENCE)
        desk.guild.leave(other.bot)
        async with asyncio.timeout(PATIENCE):
            while len(await sessions(home, tmp_path)) > 1:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.1)
        assert (await stopped(process)).status == 0
    assert await sessions(home, tmp_path) == [f"channel-{away.id}"]
