"""The settings of all servers: read, remembered for a moment, and changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.frontend.settings import book as module
from bot.frontend.settings.book import FRESH, SettingsBook
from bot.frontend.settings.effective import Operator
from bot.frontend.settings.own import ChannelSettings, Own, ServerSettings
from bot.sessions import SQLiteSessionManager
from bot.sessions.stores.homes import Home
from bot.sessions.stores.settings import Scope, SettingsStore

HOME, SERVER, CHANNEL = Home(1, 2), Scope(1), Scope(1, 2)
OPERATOR = Operator(models=("small", "large"))


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SettingsStore]:
    manager = SQLiteSessionManager(tmp_path / "parley.db")
    yield SettingsStore(manager.database)
    await manager.close()


def to(model: str) -> module.Edit:
    def edit(own: Own) -> Own:
        return replace(own, model=model)

    return edit


async def test_a_change_holds_at_once_and_is_kept(store: SettingsStore, clock: Clock) -> None:
    book = SettingsBook(store, OPERATOR, clock=clock)
    assert (await book.here(HOME)).model.value == "small"
    await book.change(SERVER, "model", "user-1", to("large"))
    assert (await book.here(HOME)).model.value == "large"
    await book.change(CHANNEL, "model", "user-2", to("small"))
    assert (await book.here(HOME)).model.value == "small"
    assert (await book.here(Home(1, 0))).model.value == "large"
    assert (await SettingsBook(store, OPERATOR).own(HOME)) == (
        ServerSettings(model="large"),
        ChannelSettings(model="small"),
    )
    changes = await book.changes(1, 5)
    assert [(each.scope, each.field, each.by) for each in changes] == [
        (CHANNEL, "model", "user-2"),
        (SERVER, "model", "user-1"),
    ]


async def test_what_another_process_changes_is_seen_a_moment_later(
    store: SettingsStore, clock: Clock
) -> None:
    ours, theirs = (SettingsBook(store, OPERATOR, clock=clock) for _ in range(2))
    await ours.here(HOME)
    await theirs.change(SERVER, "model", "user-1", to("large"))
    assert (await ours.here(HOME)).model.value == "small"
    clock.now += FRESH
    assert (await ours.here(HOME)).model.value == "large"
    await theirs.change(SERVER, "model", "user-1", to("small"))
    assert (await ours.here(HOME, fresh=True)).model.value == "small"


async def test_changes_at_once_are_all_made(store: SettingsStore) -> None:
    book = SettingsBook(store, OPERATOR)

    def adding(name: str) -> module.Edit:
        def edit(own: Own) -> Own:
            assert isinstance(own, ServerSettings)
            return replace(own, personas={**own.personas, name: "text"})

        return edit

    names = [f"p{number}" for number in range(8)]
    await asyncio.gather(*(book.change(SERVER, "personas", "u", adding(n)) for n in names))
    server, _ = await book.own(HOME)
    assert sorted(server.personas) == names


async def test_what_does_not_change_is_not_stored(store: SettingsStore) -> None:
    book = SettingsBook(store, OPERATOR)
    await book.change(SERVER, "model", "user-1", to("large"))
    await book.change(SERVER, "model", "user-1", to("large"))
    assert len(await book.changes(1, 5)) == 1


async def test_only_so_many_places_are_remembered(
    store: SettingsStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    book = SettingsBook(store, OPERATOR)
    for channel in range(1, 6):
        await book.here(Home(1, channel))
        assert len(book._read) <= 2
