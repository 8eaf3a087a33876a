"""Ending servers that do not want to end, or to be left."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bot.config import StdioServer
from bot.mcp import open_servers
from tests.mcp.conftest import QUICK, Address, app, names, pids, until

STUBBORN = str(Path(__file__).with_name("stubborn.py"))
PATIENCE = 60.0  # seconds; only a server that is not ended takes them


def stubborn(note: Path) -> StdioServer:
    """Return the settings of one that notes what asks it to end, and does not."""
    return StdioServer(name="shop", command=sys.executable, args=(STUBBORN, str(note)))


async def test_one_that_never_answers_and_ignores_every_request_to_end_is_killed(
    tmp_path: Path,
) -> None:
    note = tmp_path / "note"
    async with asyncio.timeout(PATIENCE):
        async with open_servers([stubborn(note)], replace(QUICK, start=0.01)):
            await until(note.exists)
    assert note.read_text() == "end of input;SIGTERM;"
    assert pids(str(note)) == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("asked", ["end of input", "SIGTERM"])
async def test_one_that_is_being_ended_already_is_killed_all_the_same(
    asked: str, tmp_path: Path
) -> None:
    """It did not answer in time, and is asked to end when the bot ends too."""
    note = tmp_path / "note"
    patience = replace(QUICK, start=0.01, connect=0.5)  # who has not begun by then begins again
    async with asyncio.timeout(PATIENCE):
        async with open_servers([stubborn(note)], patience):
            await until(lambda: note.exists() and asked in note.read_text())
    assert pids(str(note)) == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


@dataclass
class Old:
    """An address that knows only the older protocol, in which one says goodbye.

    Attributes:
        left: Set once somebody has said it.
        answers: Whether that is answered.
    """

    answers: bool
    left: asyncio.Event = field(default_factory=asyncio.Event)
    inner: Any = field(default_factory=lambda: app())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if headers.get(b"mcp-protocol-version", b"") >= b"2026":
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        elif scope.get("method") == "DELETE":
            self.left.set()
            await (self.inner(scope, receive, send) if self.answers else asyncio.Event().wait())
        else:
            await self.inner(scope, receive, send)


@pytest.mark.parametrize("answers", [True, False])
async def test_an_address_is_told_goodbye_and_its_answer_is_not_waited_for_long(
    answers: bool, address: Address
) -> None:
    old = Old(answers)
    patience = QUICK if answers else replace(QUICK, end=0.1)
    async with address.serving(old), asyncio.timeout(PATIENCE):
        async with open_servers([address.settings], patience) as servers:
            assert names(servers) == ["web_whoami"]
        assert old.left.is_set()
