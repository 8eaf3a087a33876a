"""Agents as several processes have them: on one database, with connections of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from bot import Agent
from bot.agent.loop import endings, heeding
from bot.sessions import SQLSessionManager
from bot.sessions.database.holders import AdvisoryHolders
from tests.agent.conftest import MakeAgent
from tests.agent.processes.programs import sessions

MakeOther = Callable[..., Agent]


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a database is: one of each engine."""
    if request.param == "sqlite":
        return str(tmp_path / "sessions.db")
    url: str = request.getfixturevalue("postgres").new_database()
    return url


@pytest.fixture
async def manager(address: str) -> AsyncIterator[SQLSessionManager]:
    manager = sessions(address)
    yield manager
    await manager.close()


@pytest.fixture
def make_other(make_agent: MakeAgent, address: str) -> MakeOther:
    """Make agents as another process would: with connections and a holder of their own."""

    def made(**options: Any) -> Agent:
        return make_agent(session_manager=sessions(address), **options)

    return made


@pytest.fixture
def heedless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs meet what other processes have recorded only when they save."""
    monkeypatch.setattr(heeding, "HEED_EVERY", 60.0)
    monkeypatch.setattr(endings, "CARRIED_OUT_WITHIN", 60.0)
    monkeypatch.setattr(AdvisoryHolders, "tell_others", lambda *_: None)


@pytest.fixture
def attentive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs look at once for what other processes have recorded."""
    monkeypatch.setattr(heeding, "HEED_EVERY", 0.01)
    monkeypatch.setattr(endings, "CARRIED_OUT_WITHIN", 60.0)
