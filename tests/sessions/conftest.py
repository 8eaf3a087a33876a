from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.sessions import InMemorySessionManager, SessionManager, SessionStore, SQLiteSessionManager
from tests.sessions.third_party import DictManager, ObjectManager


@asynccontextmanager
async def opened(kind: str, directory: Path) -> AsyncIterator[SessionStore]:
    store = (
        InMemorySessionManager()
        if kind == "memory"
        else SQLiteSessionManager(directory / "sessions.db")
    )
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SessionStore]:
    async with opened(request.param, tmp_path) as store:
        yield store


@pytest.fixture(params=["memory", "sqlite", "dict", "object"])
async def manager(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SessionManager]:
    if request.param == "dict":
        yield DictManager()
    elif request.param == "object":
        yield ObjectManager()
    else:
        async with opened(request.param, tmp_path) as store:
            yield store


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SQLiteSessionManager]:
    manager = SQLiteSessionManager(tmp_path / "sessions.db")
    yield manager
    await manager.close()
