"""A conversation of 500 turns with a model that reads 8,192 tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import CompactionDoneEvent, ErrorEvent, Event, SQLiteSessionManager
from bot.sandbox.model.replies import tokens_in
from tests.agent.long_talks import compacts, summarises, talking

TURNS = 500
WINDOW = 8_192


def told(number: int) -> str:
    """Return a message of few words, each of which is streamed back, and many characters."""
    return " ".join(f"{'word' * 12}{number}x{each}" for each in range(8))


@pytest.mark.timeout(300)
async def test_a_conversation_of_500_turns_stays_within_a_small_window(tmp_path: Path) -> None:
    store = SQLiteSessionManager(tmp_path / "s.db")
    async with talking(window=WINDOW, manager=store, system_prompt="Be kind.") as talk:
        await talk.says("My name is Alice.")
        sizes: list[int] = []
        for number in range(TURNS - 2):
            seen: list[Event] = [
                event async for event in talk.agent.run(told(number), session_id="s")
            ]
            assert not any(isinstance(event, ErrorEvent) for event in seen)
            session = await store.get("s")
            assert session is not None
            sizes.append(len(session.events))
        assert await talk.says("What is my name?") == "You are Alice."
        log = await store.read_log("s", limit=10_000)

    boundaries = [event for event in log if isinstance(event, CompactionDoneEvent)]
    requests = talk.model.requests
    assert talk.server.refused == []
    assert len(log) == 2 * TURNS + len(boundaries)
    assert sum(each.messages for each in boundaries) > 400

    moved = sum(compacts(a, b) for a, b in zip(talk.chats, talk.chats[1:], strict=False))
    assert moved == len(boundaries) == len(talk.summaries)

    costs = [tokens_in(each) for each in requests]
    half = len(costs) // 2
    assert max(costs[half:]) <= max(costs[:half]) * 1.1 < WINDOW
    assert sum(costs[half:]) <= sum(costs[:half]) * 1.1
    assert max(sizes[TURNS // 2 :]) <= max(sizes[: TURNS // 2])
    assert len(requests) < TURNS * 1.1
    assert not any(summarises(each) and each.get("tools") for each in requests)
