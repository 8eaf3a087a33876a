"""Which messages are one long text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import discord
import pytest

from bot.frontend.hearing import bursts
from bot.frontend.hearing.bursts import Bursts, joined

START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Somebody:
    """Somebody, or some place."""

    id: int


@dataclass
class Said:
    """A message, as far as it matters here."""

    id: int
    content: str
    author: Somebody = field(default_factory=lambda: Somebody(1))
    channel: Somebody = field(default_factory=lambda: Somebody(9))
    type: discord.MessageType = discord.MessageType.default
    after: float = 0.0

    @property
    def created_at(self) -> datetime:
        return START + timedelta(seconds=self.after)


def said(number: int, length: int = 1900, **more: Any) -> discord.Message:
    return cast("discord.Message", Said(number, "x" * length, **more))


async def together(*messages: discord.Message) -> list[list[int]]:
    async def past() -> AsyncIterator[discord.Message]:
        for message in messages:
            yield message

    return [[each.id for each in several] async for several in joined(past())]


def ids(messages: Sequence[discord.Message]) -> list[int]:
    return [each.id for each in messages]


async def test_what_follows_a_message_near_the_limit_belongs_to_it() -> None:
    assert await together(said(1), said(2), said(3, 5), said(4, 5)) == [[1, 2, 3], [4]]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (said(1, 1000), said(2)),
        (said(1, 4000), said(2)),
        (said(1), said(2, author=Somebody(2))),
        (said(1), said(2, type=discord.MessageType.reply)),
        (said(1), said(2, after=60.0)),
    ],
)
async def test_other_messages_stand_alone(first: discord.Message, second: discord.Message) -> None:
    assert await together(first, second) == [[1], [2]]
    live = Bursts()
    begun = [live.add(first), live.add(second)]
    assert [ids(each) for each in begun] == [[1], [2]]


async def test_no_text_is_endless() -> None:
    texts = [said(number) for number in range(bursts.MOST + 1)]
    assert [len(each) for each in await together(*texts)] == [bursts.MOST, 1]
    live = Bursts()
    begun = [burst for burst in map(live.add, texts) if burst]
    assert [len(each) for each in begun] == [bursts.MOST, 1]


async def test_only_a_message_near_the_limit_waits() -> None:
    live = Bursts()
    assert ids(await live.whole(live.add(said(1, 5)))) == [1]
    assert ids(await live.whole([said(2)])) == [2]


async def test_the_rest_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bursts, "WAIT", 3600.0)
    live = Bursts()
    whole = asyncio.create_task(live.whole(live.add(said(1))))
    await asyncio.sleep(0)
    assert not live.add(said(1))  # a resumed connection says it again
    assert not live.add(said(2))
    await asyncio.sleep(0)
    assert not live.add(said(3, 5))
    assert ids(await whole) == [1, 2, 3]


async def test_without_a_rest_it_goes_on_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bursts, "WAIT", 0.01)
    live = Bursts()
    assert ids(await live.whole(live.add(said(1)))) == [1]
    assert ids(live.add(said(2, 5))) == [2]
