"""Before each call of the model the meter is asked; after it, told what that used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

import pytest

from bot import (
    BudgetUsedUpError,
    ErrorEvent,
    InMemorySessionManager,
    ModelError,
    ModelUnavailableError,
    RunStatus,
    StorageError,
    TextChunkEvent,
    ToolResultEvent,
    TurnEndedEvent,
    Usage,
    UserMessage,
    tool,
)
from bot.agent.model.service import (
    ModelAnswer,
    ModelEvent,
    ModelRequest,
    Reported,
    Retrying,
    TextDelta,
)
from bot.agent.usage.meter import Call, metered
from bot.events import Author
from bot.sandbox.model import ScriptedModel
from bot.sandbox.model.replies import chunk, delta_chunk
from bot.sessions.stores.usage import Purpose
from tests.agent.conftest import MakeAgent, begun, events_of

TOLD = "Your tokens are used up."
CALL = Call(session_id="s", turn_id="t", number=0, user_id="alice", model="m")
USED = Usage(input_tokens=7, output_tokens=3)


class Purse:
    """Pays for so many calls, and keeps what they used."""

    def __init__(self, calls: int = 1000) -> None:
        self.calls = calls
        self.asked: list[tuple[str, str]] = []
        self.kept: dict[tuple[str, int], tuple[Call, Usage]] = {}
        self.is_broken = False

    async def admit(self, session_id: str, user_id: str) -> None:
        self.asked.append((session_id, user_id))
        if len(self.asked) > self.calls:
            raise BudgetUsedUpError(TOLD)

    async def note(self, call: Call, usage: Usage) -> None:
        await asyncio.sleep(0)
        if self.is_broken:
            raise StorageError("the disk is full")
        self.kept.setdefault((call.turn_id, call.number), (call, usage))

    @property
    def usages(self) -> list[Usage]:
        return [usage for _, usage in self.kept.values()]


class Voice:
    """A model that gives what it was told to, then breaks if told to."""

    model = "m"

    def __init__(self, *items: ModelEvent | ModelError) -> None:
        self._items = items

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        for item in self._items:
            if isinstance(item, ModelError):
                raise item
            yield item

    async def close(self) -> None:
        """Have nothing to close."""


@pytest.fixture
def manager() -> InMemorySessionManager:
    return InMemorySessionManager()


@pytest.fixture
def purse() -> Purse:
    return Purse()


async def used(*items: ModelEvent | ModelError) -> list[Usage]:
    purse = Purse()
    request = ModelRequest(messages=[])
    try:
        async with aclosing(metered(purse, Voice(*items), request, CALL)) as stream:
            async for _ in stream:
                pass
    except ModelError:
        pass
    return purse.usages


async def test_each_call_of_a_turn_is_asked_for_and_kept_with_who_asked(
    make_agent: MakeAgent, model: ScriptedModel, purse: Purse
) -> None:
    agent = make_agent(meter=purse, tools=[tool(name="look")(lambda: "seen")])
    model.says(calls=[("look", {})]).then("done").then("again")
    bob = UserMessage(text="look", author=Author(user_id="bob", name="Bob"))
    await agent.run(bob, session_id="s", user_id="alice")
    await agent.run("once more", session_id="s", user_id="alice")
    assert purse.asked == [("s", "bob"), ("s", "bob"), ("s", "alice")]
    first, second, third = (call for call, _ in purse.kept.values())
    assert (first.turn_id, first.number, second.number) == (second.turn_id, 0, 1)
    assert third.turn_id != first.turn_id
    assert [call.user_id for call, _ in purse.kept.values()] == ["bob", "bob", "alice"]
    assert {call.model for call, _ in purse.kept.values()} == {"scripted"}
    assert all(usage.input_tokens for usage in purse.usages)


async def test_a_budget_that_ends_within_a_turn_ends_it_softly(
    make_agent: MakeAgent, model: ScriptedModel, manager: InMemorySessionManager
) -> None:
    purse = Purse(calls=1)
    agent = make_agent(meter=purse, tools=[tool(name="look")(lambda: "seen")])
    model.says("I look.", calls=[("look", {})]).then("next month")
    seen = [event async for event in agent.run("look", session_id="s", user_id="alice")]
    [error] = [event for event in seen if isinstance(event, ErrorEvent)]
    assert (error.message, error.code, error.reference) == (TOLD, "budget_used_up", "")
    [end] = await events_of(manager, "s", TurnEndedEvent)
    assert isinstance(end, TurnEndedEvent)
    assert (end.text, end.reference) == (TOLD, "")
    assert await events_of(manager, "s", ToolResultEvent)
    assert len(model.requests) == len(purse.kept) == 1
    purse.calls = 1000
    result = await agent.run("and now?", session_id="s", user_id="alice")
    assert result.output == "next month"


async def test_who_awaits_a_run_over_budget_gets_the_error_by_its_type(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    with pytest.raises(BudgetUsedUpError, match=TOLD):
        await make_agent(meter=Purse(calls=0)).run("hi", session_id="s")
    assert model.requests == []


async def test_an_answer_without_a_report_is_kept_as_one_of_unknown_size(
    make_agent: MakeAgent, model: ScriptedModel, purse: Purse
) -> None:
    zero = {"prompt_tokens": 0, "completion_tokens": 0}
    model.chunks([delta_chunk({"content": "a"}, "stop")])
    model.chunks([delta_chunk({"content": "b"}, "stop"), chunk(usage=zero)])
    agent = make_agent(meter=purse)
    await agent.run("hi", session_id="s")
    await agent.run("ho", session_id="s")
    assert purse.usages == [Usage(), Usage(input_tokens=0, output_tokens=0)]


async def test_an_empty_answer_and_a_refused_one_are_kept(
    make_agent: MakeAgent, model: ScriptedModel, purse: Purse
) -> None:
    told = {"prompt_tokens": 7, "completion_tokens": 3}
    model.chunks([delta_chunk({"content": " "}, "stop"), chunk(usage=told)])
    model.chunks([delta_chunk({"content": "a"}, "content_filter"), chunk(usage=told)])
    agent = make_agent(meter=purse)
    for _ in range(2):
        [*_, done] = [event async for event in agent.run("hi", session_id="s")]
        assert getattr(done, "status", None) is RunStatus.FAILED
    assert purse.usages == [USED, USED]


async def test_of_a_stopped_answer_is_kept_what_was_reported_until_then(
    make_agent: MakeAgent, model: ScriptedModel, purse: Purse
) -> None:
    agent = make_agent(meter=purse)
    gate = model.hangs("never told")
    run = await begun(agent.run("hi", session_id="s", user_id="alice"))
    await gate.reached.wait()
    await agent.stop("s", by="alice")
    assert (await run).status is RunStatus.STOPPED
    assert purse.usages == []
    told = chunk(usage={"prompt_tokens": 7, "completion_tokens": 3})
    model.chunks([delta_chunk({"content": "one"}), told, delta_chunk({"content": "two"})])
    async with aclosing(aiter(agent.run("ho", session_id="s", user_id="alice"))) as events:
        async for event in events:
            if isinstance(event, TextChunkEvent) and event.chunk == "two":
                break
    assert purse.usages == [USED]


async def test_usage_that_cannot_be_kept_leaves_the_turn_open_for_a_better_day(
    make_agent: MakeAgent, model: ScriptedModel, purse: Purse, manager: InMemorySessionManager
) -> None:
    agent = make_agent(meter=purse)
    purse.is_broken = True
    model.says("lost").then("kept")
    with pytest.raises(StorageError):
        await agent.run("hi", session_id="s")
    purse.is_broken = False
    result = await agent.resume("s")
    assert result.output == "kept"
    assert [call.number for call, _ in purse.kept.values()] == [0]


async def test_the_last_report_of_an_attempt_counts_and_attempts_add_up() -> None:
    more = Usage(input_tokens=8, output_tokens=4)
    answer = ModelAnswer(text="a", usage=more)
    assert await used(Reported(USED), TextDelta("a"), Reported(more)) == [more]
    assert await used(Reported(USED), answer) == [more]
    assert await used(Reported(USED), Retrying(1.0), Reported(more), answer) == [USED + more]
    assert await used(Reported(USED), Retrying(1.0), ModelUnavailableError("down")) == [USED]
    assert await used(Retrying(1.0), ModelUnavailableError("down")) == []
    assert await used(Retrying(1.0), ModelAnswer(text="a")) == [Usage()]
    assert await used(Reported(USED), ModelAnswer(text="a")) == [USED]


async def test_a_summary_s_calls_are_asked_for_and_kept_for_who_had_it_made(
    make_agent: MakeAgent, model: ScriptedModel, purse: Purse
) -> None:
    agent = make_agent(meter=purse)
    for number in range(4):
        model.says(f"answer {number}")
        await agent.run(f"question {number}", session_id="s", user_id="alice")
    model.says("They talked.")
    assert await agent.compact("s", by="bob")
    assert purse.asked[-1] == ("s", "bob")
    *_, (call, usage) = purse.kept.values()
    assert (call.purpose, call.user_id, call.number) == (Purpose.SUMMARY, "bob", 0)
    assert usage.input_tokens
    purse.calls = 0
    for number in range(4):
        with pytest.raises(BudgetUsedUpError):
            await agent.run(f"question {number}", session_id="s", user_id="alice")
    with pytest.raises(BudgetUsedUpError):
        await agent.compact("s", by="bob")
    assert len(purse.kept) == 5


async def test_a_summary_made_within_a_turn_is_for_who_asked(
    make_agent: MakeAgent, model: ScriptedModel, purse: Purse
) -> None:
    agent = make_agent(meter=purse, context_window=2_000)
    model.answers(lambda request: "word " * 300 if "tools" in request else "In short.")
    for _ in range(12):
        with suppress(ModelError):
            await agent.run("word " * 300, session_id="s", user_id="alice")
    summaries = [call for call, _ in purse.kept.values() if call.purpose is Purpose.SUMMARY]
    assert {call.user_id for call in summaries} == {"alice"}
