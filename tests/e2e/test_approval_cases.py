"""What went wrong elsewhere with approvals; each also over a restart of the bot."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.frontend import ParleyClient
from bot.sandbox import Message
from tests.clocks import Clock
from tests.e2e.stage import Stage

DELETE = ("delete_file", {"path": "old.txt"})
OTHER = ("delete_file", {"path": "other.txt"})
MINUTES_20 = 20 * 60.0

restart = pytest.mark.parametrize("again", [False, True], ids=["at once", "after a restart"])


async def asks(stage: Stage, text: str = "May I run") -> Message:
    await stage.alice.says("please", in_=stage.desk)
    return await stage.says(stage.desk, text)


@asynccontextmanager
async def later(stage: Stage, client: ParleyClient, *, again: bool) -> AsyncIterator[ParleyClient]:
    """Go on with the same bot, or with another start of it."""
    if not again:
        yield client
        return
    await client.close()
    await client.agent.close()
    async with stage.running() as other:
        yield other


@restart
async def test_a_button_works_after_twenty_minutes(stage: Stage, again: bool) -> None:
    stage.model.says(calls=[DELETE]).then("It is gone.")
    async with stage.running() as client:
        card = await asks(stage)
        async with later(stage, client, again=again):
            stage.clock.advance(MINUTES_20)
            await stage.mod.clicks(card, "Approve")
            await stage.says(stage.desk, "It is gone.")
            await card.until(lambda message: "It ran and ended well." in message.content)
    assert stage.tools.done == ["deleted old.txt"]


@restart
async def test_the_second_cards_button_decides_that_call_and_only_that(
    stage: Stage, again: bool
) -> None:
    stage.model.says(calls=[DELETE, OTHER]).then("Done.")
    async with stage.running() as client:
        second = await asks(stage, "other.txt")
        first = await stage.says(stage.desk, "old.txt")
        async with later(stage, client, again=again):
            await stage.mod.clicks(second, "Approve")
            await second.until(lambda message: "It ran" in message.content)
            assert "May I run" in first.content
            assert stage.tools.done == ["deleted other.txt"]
            await stage.mod.clicks(first, "Deny")
            await stage.says(stage.desk, "Done.")
    results = [text for role, text in stage.asked[1] if role == "tool"]
    assert results[0].startswith("A human denied this call.")
    assert results[1] == "other.txt is gone"


@restart
async def test_many_clicks_are_one_execution(stage: Stage, again: bool) -> None:
    stage.model.says(calls=[DELETE]).then("It is gone.")
    async with stage.running() as client:
        card = await asks(stage)
        async with later(stage, client, again=again):
            clicks = (stage.mod.clicks(card, "Approve") for _ in range(5))
            answers = await asyncio.gather(*clicks)
            await stage.says(stage.desk, "It is gone.")
    assert sum(each.text.startswith("Too late: already approved") for each in answers) == 4
    assert stage.tools.done == ["deleted old.txt"]


@restart
async def test_a_free_calls_result_is_kept_over_the_pause(stage: Stage, again: bool) -> None:
    stage.model.says(calls=[("read_clock", {}), DELETE, OTHER]).then("All done.")
    async with stage.running() as client:
        second = await asks(stage, "other.txt")
        first = await stage.says(stage.desk, "old.txt")
        async with later(stage, client, again=again):
            await stage.mod.clicks(first, "Deny")
            await stage.mod.clicks(second, "Approve")
            await stage.says(stage.desk, "All done.")
    results = [text for role, text in stage.asked[1] if role == "tool"]
    assert [results[0], results[2]] == ["noon", "other.txt is gone"]
    assert results[1].startswith("A human denied this call.")
    assert stage.tools.done == ["read the clock", "deleted other.txt"]


@restart
async def test_anyone_else_is_refused_privately(stage: Stage, again: bool) -> None:
    stage.model.says(calls=[DELETE])
    async with stage.running() as client:
        card = await asks(stage)
        before = card.content
        async with later(stage, client, again=again):
            for button in ("Approve", "Deny"):
                answer = await stage.bob.clicks(card, button)
                assert answer.ephemeral
                assert "You may not decide this request." in answer.text
    assert card.content == before
    assert stage.tools.done == []


async def test_a_call_that_was_cut_off_is_not_run_again_and_its_outcome_is_unknown(
    stage: Stage,
) -> None:
    stage.model.says(calls=[("long_job", {"name": "a"})]).then("I do not know.")
    async with stage.running() as client:
        card = await asks(stage)
        await stage.mod.clicks(card, "Approve")
        await stage.tools.begun.wait()
        await stage.kill(client)
    stage.tools.may_finish.set()
    async with stage.running():
        await stage.says(stage.desk, "I do not know.")
        await card.until(lambda message: "what came of it is unknown" in message.content)
    assert "what came of it is unknown" in stage.asked[1][-1][1]
    assert stage.tools.done == []


@restart
@pytest.mark.parametrize("command", ["/stop", "/reset"])
async def test_an_approval_after_a_stop_or_a_reset_is_refused_with_the_reason(
    stage: Stage, command: str, again: bool
) -> None:
    stage.model.says(calls=[DELETE])
    async with stage.running() as client:
        card = await asks(stage)
        await stage.mod.runs(command, in_=stage.desk)
        await card.until(lambda message: not message.buttons)
        async with later(stage, client, again=again):
            assert "Withdrawn by" in card.content
            answer = await stage.mod.runs("/approve", in_=stage.desk)
            assert answer.text == "Please choose one of the requests that wait here."
    assert stage.tools.done == []


@restart
async def test_an_approval_after_the_expiry_is_refused_with_the_reason(
    stage: Stage, bots_clock: Clock, again: bool
) -> None:
    stage.model.says(calls=[DELETE]).then("Nobody answered.")
    async with stage.running() as client:
        await asks(stage)
        [request] = await client.agent.pending(f"channel-{stage.desk.id}")
        async with later(stage, client, again=again):
            bots_clock.advance(stage.approval_ttl)
            await stage.says(stage.desk, "Nobody answered.")
            late = await stage.mod.runs("/approve", in_=stage.desk, request=request.approval_id)
            assert late.text.startswith("Too late: the request expired")
    assert stage.tools.done == []


@restart
async def test_what_was_denied_is_not_asked_again_in_that_turn_but_in_the_next(
    stage: Stage, again: bool
) -> None:
    stage.model.says(calls=[DELETE]).says(calls=[DELETE]).then("I see.").says(calls=[DELETE])
    async with stage.running() as client:
        card = await asks(stage)
        async with later(stage, client, again=again):
            await stage.mod.clicks(card, "Deny")
            await stage.says(stage.desk, "I see.")
            assert sum("delete_file" in text for text in stage.said(stage.desk)) == 1
            assert "Do not ask for the same call again" in stage.asked[1][-1][1]
            assert "A human denied this call." in stage.asked[2][-1][1]
            await asks(stage)
    assert stage.tools.done == []


@restart
async def test_arguments_that_are_wrong_are_told_and_nobody_is_asked(
    stage: Stage, again: bool
) -> None:
    stage.model.says(calls=[("delete_file", {}), OTHER]).then("Sorry.")
    async with stage.running() as client:
        card = await asks(stage)
        assert "other.txt" in card.content
        async with later(stage, client, again=again):
            await stage.mod.clicks(card, "Approve")
            await stage.says(stage.desk, "Sorry.")
    results = [text for role, text in stage.asked[1] if role == "tool"]
    assert results[0].startswith("Invalid arguments: path")
    assert results[1] == "other.txt is gone"


@restart
async def test_an_unknown_tool_and_the_same_failing_call_are_told_and_stopped(
    stage: Stage, again: bool
) -> None:
    for _ in range(4):
        stage.model.says(calls=[("delete_files", {"path": "x"})])
    stage.model.says(calls=[DELETE]).then("Done.")
    for _ in range(4):
        stage.model.says(calls=[("delete_file", {"path": 1})])
    stage.model.then("I give up.")
    async with stage.running() as client:
        card = await asks(stage)
        assert "There is no tool 'delete_files'" in stage.asked[1][-1][1]
        async with later(stage, client, again=again):
            await stage.mod.clicks(card, "Approve")
            await stage.says(stage.desk, "Done.")
            await stage.alice.says("again", in_=stage.desk)
            await stage.says(stage.desk, "I give up.")
    assert stage.tools.done == ["deleted old.txt"]
