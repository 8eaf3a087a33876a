from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.sessions import (
    InMemorySessionManager,
    PostgresSessionManager,
    SessionManager,
    SessionStore,
    SQLiteSessionManager,
)
from bot.sessions.database.sql import SQLSessionManager
from bot.storage import PostgresDatabase, SQLiteDatabase
from tests.sessions.third_party import DictManager, ObjectManager


def made(kind: str, request: pytest.FixtureRequest) -> SessionStore:
    match kind:
        case "sqlite":
            return SQLiteSessionManager(request.getfixturevalue("tmp_path") / "sessions.db")
        case "postgres":
            return PostgresSessionManager(request.getfixturevalue("postgres").new_database())
        case _:
            return InMemorySessionManager()


@asynccontextmanager
async def opened(kind: str, request: pytest.FixtureRequest) -> AsyncIterator[SessionStore]:
    store = made(kind, request)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[SessionStore]:
    async with opened(request.param, request) as store:
        yield store


@pytest.fixture(params=["memory", "sqlite", "postgres", "dict", "object"])
async def manager(request: pytest.FixtureRequest) -> AsyncIterator[SessionManager]:
    if request.param == "dict":
        yield DictManager()
    elif request.param == "object":
        yield ObjectManager()
    else:
        async with opened(request.param, request) as store:
            yield store


@pytest.fixture(params=["sqlite", "postgres"])
async def sql(request: pytest.FixtureRequest) -> AsyncIterator[SQLSessionManager]:
    """Sessions in a database of each engine."""
    async with opened(request.param, request) as store:
        assert isinstance(store, SQLSessionManager)
        yield store


@pytest.fixture
async def another(sql: SQLSessionManager) -> AsyncIterator[SQLSessionManager]:
    """Another process' way to the same sessions."""
    store = beside(sql)
    yield store
    await store.close()


def beside(store: SQLSessionManager) -> SQLSessionManager:
    """Return another manager of the same database."""
    match store.database:
        case PostgresDatabase(address=address):
            return PostgresSessionManager(address)
        case SQLiteDatabase(path=path):
            return SQLiteSessionManager(path)
        case other:
            raise TypeError(other)


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SQLiteSessionManager]:
    manager = SQLiteSessionManager(tmp_path / "sessions.db")
    yield manager
    await manager.close()
