"""Budgets and usage, as people meet them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.agent.usage.budgets import Budgets, Limits
from bot.events import AssistantMessageEvent, TurnEndedEvent, Usage
from bot.frontend.ids import user_id_of
from bot.sandbox import ManualClock, Person
from bot.sandbox.model.replies import chunk, delta_chunk
from bot.sessions.stores.usage import Purpose, UsageStore, Used
from tests.e2e.stage import Stage
from tests.setups import labels

NOON = datetime(2026, 2, 28, 12, tzinfo=UTC)
MIDNIGHT = f"<t:{int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())}:R>"


@pytest.fixture
def clock() -> ManualClock:
    """Discord's clock, at noon on the last day of a month."""
    return ManualClock(NOON, running=True)


def costing(stage: Stage, text: str, tokens: int, **delta: object) -> None:
    """Let the model say something that takes so many tokens."""
    usage = {"prompt_tokens": tokens - 1, "completion_tokens": 1}
    reason = "tool_calls" if delta else "stop"
    stage.model.chunks([delta_chunk({"content": text, **delta}, reason), chunk(usage=usage)])


def call(tool: str) -> dict[str, object]:
    function = {"name": tool, "arguments": "{}"}
    return {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}


async def said(person: Person, stage: Stage, text: str, answer: str) -> None:
    await person.says(text, in_=stage.desk)
    await stage.says(stage.desk, answer)


async def used(stage: Stage, *calls: Used) -> None:
    store = UsageStore(stage.store.database)
    for each in calls:
        await store.add(each)


def a_call(stage: Stage, number: int, user: int, tokens: int, days: int = 0) -> Used:
    return Used(
        turn_id=f"turn-{number}",
        call=0,
        at=NOON - timedelta(days=days),
        purpose=Purpose.ANSWER,
        user_id=user_id_of(user),
        server_id=stage.guild.id,
        session_id="s",
        model="m",
        usage=Usage(input_tokens=tokens, output_tokens=0),
    )


async def test_a_budget_used_up_within_a_turn_is_told_kindly_and_once(stage: Stage) -> None:
    costing(stage, "I look.", 100, **call("read_clock"))
    budgets = Budgets(person=Limits(day=100))
    async with stage.running(budgets=budgets):
        await stage.alice.says("what time is it?", in_=stage.desk)
        told = await stage.says(stage.desk, "used up")
        assert told.content == (
            "Your 100 tokens for today are used up, so I do not answer now; nothing went wrong. "
            f"They renew {MIDNIGHT}."
        )
        assert labels(told) == []
        log = await stage.log_of(f"channel-{stage.desk.id}")
    assert stage.said(stage.desk) == ["I look.", told.content]
    assert stage.tools.done == ["read the clock"]
    [end] = [event for event in log if isinstance(event, TurnEndedEvent)]
    assert (end.code, end.reference) == ("budget_used_up", "")
    assert len(stage.model.requests) == 1


async def test_two_people_share_a_server_s_budget_and_it_renews(stage: Stage) -> None:
    costing(stage, "Hello Alice.", 100)
    costing(stage, "A new month.", 100)
    async with stage.running(budgets=Budgets(server=Limits(month=100))):
        await said(stage.alice, stage, "hi", "Hello Alice.")
        await said(stage.bob, stage, "me too", "This server's 100 tokens for this month")
        stage.clock.advance(12 * 3600)
        await said(stage.bob, stage, "and now?", "A new month.")


async def test_a_restart_keeps_the_sums(stage: Stage) -> None:
    costing(stage, "Hello Alice.", 100)
    budgets = Budgets(person=Limits(day=100))
    async with stage.running(budgets=budgets):
        await said(stage.alice, stage, "hi", "Hello Alice.")
    stage.model.says("Hello Bob.")
    async with stage.running(budgets=budgets):
        await said(stage.alice, stage, "again", "Your 100 tokens for today")
        await said(stage.bob, stage, "hi", "Hello Bob.")


async def test_a_role_has_a_budget_of_its_own_and_the_owner_none(stage: Stage) -> None:
    role = stage.guild.role("patron")
    stage.guild.give(stage.bob, role)
    budgets = Budgets(person=Limits(day=50), roles_day={str(role.id): 200})
    for number in range(3):
        costing(stage, f"Hello {number}.", 100)
    owner = frozenset({stage.mod.id})
    async with stage.running(budgets=budgets, owner_ids=owner):
        await used(stage, a_call(stage, 1, stage.mod.id, 10**6))
        await used(stage, a_call(stage, 2, stage.alice.id, 50))
        await said(stage.alice, stage, "hi", "Your 50 tokens for today")
        await said(stage.bob, stage, "hi", "Hello 0.")
        await said(stage.bob, stage, "hi", "Hello 1.")
        await said(stage.bob, stage, "hi", "Your 200 tokens for today")
        await said(stage.mod, stage, "hi", "Hello 2.")


@pytest.mark.parametrize("told", [None, {"prompt_tokens": 0, "completion_tokens": 0}])
async def test_an_absent_report_and_a_zero_cost_nothing_and_are_told_apart(
    stage: Stage, told: dict[str, int] | None
) -> None:
    report = [chunk(usage=told)] if told else []
    stage.model.chunks([delta_chunk({"content": "one"}, "stop"), *report]).says("two")
    async with stage.running(budgets=Budgets(person=Limits(day=10))):
        await said(stage.alice, stage, "hi", "one")
        await said(stage.alice, stage, "ho", "two")
        [first, second] = await UsageStore(stage.store.database).calls(NOON.date())
        answer = await stage.alice.runs("/usage", in_=stage.desk)
    assert first.usage == (Usage(input_tokens=0, output_tokens=0) if told else Usage())
    assert (first.user_id, first.server_id) == (user_id_of(stage.alice.id), stage.guild.id)
    assert second.usage.input_tokens
    assert ("told no tokens of 1 of these calls" in answer.text) is (told is None)


async def test_everyone_sees_their_own_usage_in_private(stage: Stage) -> None:
    budgets = Budgets(person=Limits(day=1000))
    async with stage.running(budgets=budgets):
        await used(stage, a_call(stage, 1, stage.alice.id, 400))
        await used(stage, a_call(stage, 2, stage.alice.id, 2000, days=3))
        await used(stage, a_call(stage, 3, stage.bob.id, 5))
        answer = await stage.alice.runs("/usage", in_=stage.desk)
        theirs = await stage.alice.runs("/usage", in_=stage.desk, view="people")
    assert answer.text == (
        f"**Today**: 400 tokens in 1 call; 600 of 1,000 are left, renewed {MIDNIGHT}.\n"
        "**This month**: 2,400 tokens in 2 calls; no limit."
    )
    assert answer.ephemeral
    assert theirs.text == "Only people with Manage Server may see what others used."
    assert stage.said(stage.desk) == []


async def test_the_owner_is_told_no_limit(stage: Stage) -> None:
    budgets = Budgets(person=Limits(day=1000))
    async with stage.running(budgets=budgets, owner_ids=frozenset({stage.bob.id})):
        answer = await stage.bob.runs("/usage", in_=stage.desk)
        days = await stage.bob.runs("/usage", in_=stage.desk, view="days")
    assert answer.text.startswith("**Today**: 0 tokens in 0 calls; no limit.")
    assert days.text == (
        "**Today** in this server: 0 tokens in 0 calls; no limit.\n"
        "**This month** in this server: 0 tokens in 0 calls; no limit."
    )


async def test_managers_see_the_server_by_person_and_by_day(stage: Stage) -> None:
    async with stage.running(budgets=Budgets(server=Limits(month=1000))):
        await used(stage, a_call(stage, 1, stage.alice.id, 40))
        await used(stage, a_call(stage, 2, stage.bob.id, 200, days=1))
        people = await stage.mod.runs("/usage", in_=stage.desk, view="people")
        days = await stage.mod.runs("/usage", in_=stage.desk, view="days")
    assert people.text == (
        "**Today** in this server: 40 tokens in 1 call; no limit.\n"
        "**This month** in this server: 240 tokens in 2 calls; 760 of 1,000 are left, "
        f"renewed {MIDNIGHT}.\n"
        "\n```\n"
        "person │ tokens │ calls\n"
        "───────┼────────┼──────\n"
        "bob    │    200 │     1\n"
        "alice  │     40 │     1\n"
        "```"
    )
    assert people.ephemeral
    assert "2026-02-27 │    200 │     1\n2026-02-28 │     40 │     1" in days.text


async def test_of_many_people_the_first_are_named_and_all_are_in_a_file(stage: Stage) -> None:
    async with stage.running():
        for number in range(14):
            await used(stage, a_call(stage, number, 1000 + number, 10 * (number + 1)))
        await UsageStore(stage.store.database).forget_user(user_id_of(1013))
        answer = await stage.mod.runs("/usage", in_=stage.desk, view="people")
    assert "1012     │    130" in answer.text
    assert "4 others │    200" in answer.text
    assert answer.message is not None
    [file] = answer.message.attachments
    assert file.filename == "usage.csv"
    lines = file.data.decode().splitlines()
    assert lines[0] == "user,calls,untold,input_tokens,output_tokens,cached_tokens"
    assert lines[1:3] == [",1,0,140,0,0", "user-1012,1,0,130,0,0"]
    assert len(lines) == 15


async def test_in_a_dm_there_is_only_one_s_own(stage: Stage) -> None:
    async with stage.running():
        dm = stage.alice.dm(stage.bot)
        answer = await stage.alice.runs("/usage", in_=dm, view="days")
        mine = await stage.alice.runs("/usage", in_=dm)
    assert answer.text == "That is for servers; here is only what you used yourself."
    assert mine.text.startswith("**Today**: 0 tokens")


async def test_a_turn_that_a_killed_bot_left_counts_each_call_once(stage: Stage) -> None:
    costing(stage, "I look.", 100, **call("slow_job"))
    async with stage.running() as client:
        await stage.alice.says("work", in_=stage.desk)
        await stage.says(stage.desk, "I look.")
        await stage.kill(client)
    stage.tools.may_finish.set()
    costing(stage, "Done.", 50)
    async with stage.running():
        await stage.says(stage.desk, "Done.")
        store = UsageStore(stage.store.database)
        log = await stage.log_of(f"channel-{stage.desk.id}")
        found = await store.calls(NOON.date())
    answers = [event for event in log if isinstance(event, AssistantMessageEvent)]
    assert [(each.call, each.usage) for each in found] == [
        (number, answer.usage) for number, answer in enumerate(answers)
    ]
    assert len(found) == 2


async def test_a_summary_by_hand_goes_by_the_budget_of_who_wants_it(stage: Stage) -> None:
    for number in range(4):
        costing(stage, f"Hello {number}.", 25)
    async with stage.running(budgets=Budgets(person=Limits(day=100))):
        for number in range(4):
            await said(stage.alice, stage, "hi", f"Hello {number}.")
        refused = await stage.alice.runs("/compact", in_=stage.desk)
        stage.model.says("They greeted.")
        done = await stage.bob.runs("/compact", in_=stage.desk)
        calls = await UsageStore(stage.store.database).calls(NOON.date())
    assert refused.text.startswith("Your 100 tokens for today are used up")
    assert done.text.endswith("summarised.")
    assert calls[-1].purpose is Purpose.SUMMARY
    assert calls[-1].user_id == user_id_of(stage.bob.id)
