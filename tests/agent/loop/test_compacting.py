"""Compactions at work: before a call, after a refusal, by hand; failing, stopped and raced."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from asyncio.subprocess import PIPE
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot import (
    AccessDeniedError,
    Agent,
    ApprovalRequestedEvent,
    Attachment,
    Author,
    CompactionDoneEvent,
    ContextTooLongError,
    DoneEvent,
    ErrorEvent,
    InMemorySessionManager,
    ModelError,
    ResetEvent,
    RunStatus,
    SessionManager,
    SQLiteSessionManager,
    UserMessage,
    UserMessageEvent,
    tool,
)
from bot.agent.model.service import ModelAnswer, ModelRequest
from bot.events import Recalled
from bot.sandbox.model import Answer, Chunks, Failure, Gate, Pauses, Reply, ScriptedModel
from bot.sandbox.model.replies import delta_chunk
from tests.agent.conftest import begun, events_of
from tests.agent.long_talks import Talk, agent_at, compacts, summarises, talking, understood, words
from tests.commands import environment
from tests.forking.client import create_forked
from tests.sessions.third_party import DictManager, ObjectManager

TALKER = """
import asyncio, sys
from pathlib import Path
from bot import Agent, Provider, SQLiteSessionManager, failpoints

db, base_url, folder, turns = sys.argv[1:]

async def main():
    provider = Provider(model="scripted", api_key="key", base_url=base_url)
    agent = Agent(provider=provider, session_manager=SQLiteSessionManager(Path(db)))
    failpoints.watch(Path(folder))
    for number in range(int(turns)):
        await agent.run("My name is Alice. " + "word " * 80, session_id="s")
    await agent.resume("s")
    print((await agent.run("What is my name?", session_id="s")).output)
    await agent.close()

asyncio.run(main())
"""

Rule = Callable[[Mapping[str, Any]], Reply | str]


def summary_by(reply: Reply | str) -> Rule:
    """Answer as always, but requests for a summary by this reply."""
    return lambda request: reply if summarises(request) else understood(request)


async def fill(talk: Talk, turns: int, *, size: int = 40) -> None:
    """Say so many messages of `size` words."""
    for number in range(turns):
        await talk.says(words(size, number))


async def boundaries(talk: Talk) -> list[CompactionDoneEvent]:
    """Return the compaction in the window, if there is one."""
    found = await events_of(talk.manager, "s", CompactionDoneEvent)
    return [each for each in found if isinstance(each, CompactionDoneEvent)]


async def test_what_was_recalled_of_somebody_is_in_no_summary() -> None:
    """It could not be taken out of one when it is forgotten."""
    model = ScriptedModel().answers(lambda asked: understood(asked) if summarises(asked) else "Ok.")
    async with talking(model=model) as talk:
        line = Recalled(memory_id="memory-1", text="likes peanuts")
        said = UserMessage(text="lunch?", author=Author(user_id="user-1"), recalled=(line,))
        await talk.agent.run(said, session_id="s")
        await fill(talk, 40)
        assert talk.summaries
        assert "likes peanuts" in json.dumps(talk.chats[0])
        assert "lunch?" in json.dumps(talk.summaries[0])
        assert "likes peanuts" not in json.dumps(talk.summaries)
        [done] = await boundaries(talk)
        assert "likes peanuts" not in done.summary


# -- before a call ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [InMemorySessionManager, DictManager, ObjectManager])
async def test_what_is_older_is_summarised_before_the_window_is_full(
    kind: Callable[[], SessionManager],
) -> None:
    async with talking(manager=kind()) as talk:
        await talk.says("My name is Alice.")
        await fill(talk, 10)
        assert talk.server.refused == []
        assert talk.summaries
        assert await talk.says("What is my name?") == "You are Alice."
        [done] = await boundaries(talk)
        assert done.messages > 2
        assert done.usage is not None
        assert done.model == "scripted"


async def test_the_whole_log_stays(tmp_path: Path) -> None:
    store = SQLiteSessionManager(tmp_path / "s.db")
    async with talking(manager=store) as talk:
        await fill(talk, 12)
        log = await store.read_log("s")
        session = await store.get("s")
    assert sum(isinstance(event, UserMessageEvent) for event in log) == 12
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    assert session is not None
    assert len(session.events) < len(log)
    assert session.events[0].seq == session.window_from


async def test_who_reads_a_run_is_told_of_the_compaction() -> None:
    async with talking() as talk:
        seen = [
            type(event)
            for number in range(12)
            async for event in talk.agent.run(words(40, number), session_id="s")
        ]
    assert CompactionDoneEvent in seen


async def test_the_summariser_gets_text_and_no_tools() -> None:
    @tool
    def look() -> str:
        """Look."""
        return "a lighthouse"

    def rule(request: Mapping[str, Any]) -> Reply | str:
        asked = request["messages"][-1]
        return Answer("", [("look", {})]) if asked["content"] == "look" else understood(request)

    async with talking(tools=[look], model=ScriptedModel().answers(rule)) as talk:
        await talk.says("look")
        await fill(talk, 10)
        [asked, *_] = talk.summaries
    assert "tools" not in asked
    assert [each["role"] for each in asked["messages"]] == ["system", "user"]
    assert "Assistant used look with {}: a lighthouse" in asked["messages"][1]["content"]


@pytest.mark.parametrize(
    "said", ["<think>Who is Al?</think>\nAl has a cat.", "Who is Al?</think>\n\nAl has a cat."]
)
async def test_reasoning_is_left_out_of_a_summary(said: str) -> None:
    async with talking(model=ScriptedModel().answers(summary_by(said))) as talk:
        await fill(talk, 4)
        await talk.agent.compact("s", by="user-1")
        [done] = await boundaries(talk)
    assert done.summary == "Al has a cat."


@pytest.mark.parametrize(
    "said", [Answer("<think>What was it?"), Answer("", [("delete_file", {"path": "all"})])]
)
async def test_a_summary_of_nothing_but_reasoning_or_calls_is_none(said: Answer) -> None:
    deleted = []

    @tool
    def delete_file(path: str) -> None:
        """Delete a file."""
        deleted.append(path)

    model = ScriptedModel().answers(summary_by(said))
    async with talking(model=model, tools=[delete_file]) as talk:
        await fill(talk, 4)
        with pytest.raises(ModelError):
            await talk.agent.compact("s", by="user-1")
        assert await boundaries(talk) == []
        assert await talk.says("My name is Alice.")
    assert deleted == []


@pytest.mark.parametrize("part", ["content", "reasoning_content"])
async def test_a_summary_that_does_not_end_is_given_up(part: str) -> None:
    """Nobody can stop one that was asked for by hand."""

    def rule(request: Mapping[str, Any]) -> Reply | str:
        babble = [delta_chunk({part: "la " * 10_000}) for _ in range(10)]
        return Chunks([*babble, Gate()]) if summarises(request) else understood(request)

    async with talking(model=ScriptedModel().answers(rule)) as talk:
        await fill(talk, 4)
        with pytest.raises(ModelError, match="does not end"):
            await talk.agent.compact("s", by="user-1")
        assert await talk.says("My name is Alice.")
        assert await boundaries(talk) == []


async def test_a_long_past_is_summarised_in_pieces_that_fit() -> None:
    """The bot comes to a smaller model than it had."""
    async with talking(window=100_000) as big:
        await big.says("My name is Alice.")
        await fill(big, 40)
        async with talking(window=2_000, manager=big.manager) as talk:
            assert await talk.says("What is my name?") == "You are Alice."
            assert talk.server.refused == []
            assert len(talk.summaries) > 2


async def test_a_small_conversation_asks_nobody_for_the_window() -> None:
    class Counting:
        model = "m"
        asked = 0

        async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            yield ModelAnswer(text="short")

        async def context_window(self) -> int | None:
            self.asked += 1
            return None

        async def close(self) -> None: ...

    model = Counting()
    agent = Agent(provider=model)
    await agent.run("hi", session_id="s")
    assert model.asked == 0
    for _ in range(5):
        await agent.run("x" * 12_000, session_id="s")
    assert model.asked == 3
    await agent.close()


# -- after a refusal -------------------------------------------------------------------------------


async def test_a_window_that_nobody_knew_is_met_once_and_not_told() -> None:
    async with talking(tells_window=False, compact_at=0.9) as talk:
        await talk.says("My name is Alice.")
        await fill(talk, 14)
        assert talk.server.refused
        assert await talk.says("What is my name?") == "You are Alice."


async def test_a_summary_that_is_asked_of_too_much_is_asked_of_less() -> None:
    async with talking(window=100_000) as big:
        await fill(big, 30)
        async with talking(window=2_500, tells_window=False, manager=big.manager) as talk:
            await talk.says("My name is Alice.")
            assert any(summarises(each) for each in talk.server.refused)
            assert talk.summaries


async def test_a_message_larger_than_the_window_is_told_by_its_ends() -> None:
    async with talking(tells_window=False, compact_at=0.9) as talk:
        await talk.says(f"My name is Alice. {'x' * 20_000} The end.")
        [told] = talk.chats[-1]["messages"]
        assert told["content"].startswith("My name is Alice. xxx")
        assert told["content"].endswith("xxx The end.")
        assert "characters left out" in told["content"]
        [done] = await boundaries(talk)
        assert (done.messages, done.summary, done.usage) == (0, "", None)
        assert await talk.says("What is my name?") == "You are Alice."
        assert not compacts(talk.chats[-2], talk.chats[-1])


async def test_a_turn_of_many_large_results_is_answered() -> None:
    @tool
    def read(page: int) -> str:
        """Read a page."""
        return words(150, page)

    def rule(request: Mapping[str, Any]) -> Reply | str:
        page = sum(each["role"] == "tool" for each in request["messages"])
        return Answer("", [("read", {"page": page})]) if page < 8 else "I have read it all."

    async with talking(tools=[read], model=ScriptedModel().answers(rule)) as talk:
        seen = [event async for event in talk.agent.run("read it", session_id="s")]
        assert not any(isinstance(event, ErrorEvent) for event in seen)
        assert isinstance(seen[-1], DoneEvent)
        assert seen[-1].final_text == "I have read it all."
        moved = sum(compacts(a, b) for a, b in zip(talk.chats, talk.chats[1:], strict=False))
        log = await events_of(talk.manager, "s", CompactionDoneEvent)
        assert 0 < moved == len(log) < 4


async def test_a_task_larger_than_the_window_fails_and_is_told() -> None:
    async with talking(system_prompt="x" * 20_000) as talk:
        with pytest.raises(ContextTooLongError):
            await talk.says("hi")
        assert len(talk.server.refused) == 1


async def test_a_refusal_in_the_middle_of_an_answer_is_not_tried_again() -> None:
    begun_well = {"choices": [{"index": 0, "delta": {"content": "Well"}}]}
    refused = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    model = ScriptedModel().says("hello").chunks([begun_well, refused])
    async with talking(model=model) as talk:
        await talk.says("hi")
        with pytest.raises(ContextTooLongError):
            await talk.says("hi")
        assert len(model.requests) == 2


async def test_a_second_refusal_is_told() -> None:
    refused = Failure(400, {"error": {"code": "context_length_exceeded"}})
    model = ScriptedModel().says("one").says("two").says("three")
    async with talking(model=model) as talk:
        await fill(talk, 3)
        model.answers(lambda request: "in short" if summarises(request) else refused)
        with pytest.raises(ContextTooLongError):
            await talk.says("four")
        assert len(talk.chats) == 3 + 2


# -- what goes wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply", [Failure(503, "busy"), Answer(""), Answer(" \n"), Answer("", [("look", {})])]
)
async def test_a_summary_that_fails_leaves_the_session_usable(
    reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel().answers(summary_by(reply))
    async with talking(model=model, compact_at=0.5) as talk:
        with caplog.at_level(logging.WARNING):
            await fill(talk, 8)
        assert "s could not be compacted" in caplog.text
        assert len(talk.chats) == 8
        assert await boundaries(talk) == []


async def test_what_failed_is_not_tried_again_on_every_turn() -> None:
    model = ScriptedModel().answers(summary_by(Failure(503, "busy")))
    async with talking(window=4_000, model=model, compact_at=0.3) as talk:
        await fill(talk, 12)
        failed = len(talk.summaries)
        assert 1 < failed < 6
        model.answers(understood)
        await fill(talk, 6)
        assert len(talk.summaries) > failed
        assert await boundaries(talk)


async def test_an_answer_without_an_end_is_no_summary() -> None:
    class Endless:
        model = "m"

        async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            if not summarises({"messages": request.messages}):
                yield ModelAnswer(text="answer")

        async def close(self) -> None: ...

    agent = Agent(provider=Endless())
    for number in range(4):
        await agent.run(str(number), session_id="s")
    with pytest.raises(ModelError, match="no end"):
        await agent.compact("s", by="bob")
    await agent.close()


# -- meanwhile -------------------------------------------------------------------------------------


async def held(talk: Talk) -> tuple[Gate, asyncio.Task[DoneEvent]]:
    """Talk until a compaction is at work, and leave it there."""
    gate = Gate()
    reply = Pauses(gate, "", Answer("in short"))
    talk.model.answers(summary_by(reply))
    number = 0
    while True:
        number += 1
        run = await begun(talk.agent.run(words(40, number), session_id="s"))
        reached = asyncio.create_task(gate.reached.wait())
        await asyncio.wait({run, reached}, return_when=asyncio.FIRST_COMPLETED)
        if reached.done():
            return gate, run
        reached.cancel()


async def test_a_stop_ends_a_compaction_with_its_turn() -> None:
    async with talking() as talk:
        _, run = await held(talk)
        assert await talk.agent.stop("s", by="bob")
        assert (await run).status is RunStatus.STOPPED
        assert await boundaries(talk) == []
        talk.model.answers(understood)
        await talk.says("and now?")
        assert len(await boundaries(talk)) == 1


async def test_a_reset_ends_a_compaction_and_nothing_of_it_is_recorded() -> None:
    async with talking() as talk:
        _, run = await held(talk)
        await talk.agent.reset("s", by="bob")
        assert (await run).status is RunStatus.STOPPED
        await talk.says("hello")
        assert len(talk.chats[-1]["messages"]) == 1
        assert await boundaries(talk) == []


async def test_what_is_written_during_a_compaction_is_answered_after_it() -> None:
    async with talking() as talk:
        gate, run = await held(talk)
        later = await begun(talk.agent.run("My name is Bob.", session_id="s"))
        gate.release()
        assert (await run).status is RunStatus.COMPLETED
        assert (await later).final_text.startswith("Nice to meet you, Bob.")
        assert len(await boundaries(talk)) == 1


async def test_a_reset_during_one_by_hand_drops_it() -> None:
    async with talking() as talk:
        await fill(talk, 4)
        gate = Gate()
        talk.model.answers(summary_by(Pauses(gate, "", Answer("in short"))))
        by_hand = asyncio.create_task(talk.agent.compact("s", by="bob"))
        await gate.reached.wait()
        await talk.agent.reset("s", by="bob")
        gate.release()
        assert await by_hand == 0
        assert await boundaries(talk) == []
        assert len(await events_of(talk.manager, "s", ResetEvent)) == 1


async def test_of_two_in_one_process_the_second_finds_nothing_to_do() -> None:
    async with talking() as talk:
        await fill(talk, 4)
        counts = await asyncio.gather(*(talk.agent.compact("s", by="bob") for _ in range(3)))
        assert sorted(counts) == [0, 0, 2]
        assert len(talk.summaries) == 1


async def test_of_two_processes_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    async with talking(manager=SQLiteSessionManager(path)) as talk:
        await fill(talk, 4)
        gates = [Gate(), Gate()]
        left = iter(gates)
        talk.model.answers(
            lambda request: (
                Pauses(next(left), "", Answer("in short"))
                if summarises(request)
                else understood(request)
            )
        )
        other = agent_at(talk.server, SQLiteSessionManager(path))
        tasks = [asyncio.create_task(each.compact("s", by="bob")) for each in (talk.agent, other)]
        for gate in gates:
            await gate.reached.wait()
        for gate in gates:
            gate.release()
        assert sorted(await asyncio.gather(*tasks)) == [0, 2]
        assert len(await boundaries(talk)) == 1
        await other.close()


async def test_a_turn_that_another_process_made_room_for_goes_on(tmp_path: Path) -> None:
    """The service refuses; while we summarise, another process has done it."""
    path = tmp_path / "s.db"
    model = ScriptedModel()
    async with talking(window=0, manager=SQLiteSessionManager(path), model=model) as talk:
        other = agent_at(talk.server, SQLiteSessionManager(path))
        model.says("one").says("two").says("three")
        await fill(talk, 3)
        model.fails(400, {"error": {"code": "context_length_exceeded"}})
        gate = model.pauses("", "ours")
        run = await begun(talk.agent.run("four", session_id="s"))
        await gate.reached.wait()
        model.says("theirs").says("answered")
        assert await other.compact("s", by="bob") == 2
        gate.release()
        assert (await run).final_text == "answered"
        [done] = await boundaries(talk)
        assert done.summary == "theirs"
        await other.close()


# -- by hand ---------------------------------------------------------------------------------------


async def test_by_hand_all_but_the_last_two_turns_are_summarised() -> None:
    async with talking() as talk:
        await talk.says("My name is Alice.")
        await fill(talk, 4)
        assert await talk.agent.compact("s", by="bob") == 3
        assert await talk.agent.compact("s", by="bob") == 0
        assert await talk.says("What is my name?") == "You are Alice."


async def test_there_is_nothing_to_summarise_where_nothing_was_said() -> None:
    async with talking() as talk:
        assert await talk.agent.compact("nowhere", by="bob") == 0
        assert await talk.manager.get("nowhere") is None


async def test_who_may_not_continue_a_session_may_not_compact_it() -> None:
    async with talking(may_continue=lambda session, user: user != "eve") as talk:
        await fill(talk, 4)
        with pytest.raises(AccessDeniedError):
            await talk.agent.compact("s", by="eve")
        assert talk.summaries == []


async def test_one_by_hand_that_fails_is_told_to_who_asked() -> None:
    async with talking(model=ScriptedModel().answers(summary_by(Failure(503, "")))) as talk:
        await fill(talk, 4)
        with pytest.raises(ModelError):
            await talk.agent.compact("s", by="bob")
        assert await talk.says("still there?")


async def test_a_service_that_refuses_the_smallest_piece_is_not_asked_for_ever() -> None:
    refused = Failure(400, {"error": {"code": "context_length_exceeded"}})
    async with talking(model=ScriptedModel().answers(summary_by(refused))) as talk:
        await fill(talk, 4)
        with pytest.raises(ContextTooLongError):
            await talk.agent.compact("s", by="bob")
        assert 1 < len(talk.summaries) < 6


async def test_a_session_that_waits_for_a_yes_can_be_compacted() -> None:
    @tool(approval=True)
    def pay() -> str:
        """Pay."""
        return "paid"

    def rule(request: Mapping[str, Any]) -> Reply | str:
        asked = request["messages"][-1]["content"]
        return Answer("", [("pay", {})]) if asked == "pay" else understood(request)

    async with talking(tools=[pay], model=ScriptedModel().answers(rule)) as talk:
        await fill(talk, 4)
        [request] = (await talk.agent.run("pay", session_id="s")).pending
        assert await talk.agent.compact("s", by="bob") == 3
        assert [each.approval_id for each in await talk.agent.pending("s")] == [request.approval_id]
        assert await events_of(talk.manager, "s", ApprovalRequestedEvent)
        result = await talk.agent.approve("s", request.approval_id, by="bob")
        assert result.output == "Done, pay says: paid"


async def test_a_turn_that_is_being_answered_stays_whole() -> None:
    async with talking() as talk:
        await fill(talk, 4)
        gate = Gate()
        talk.model.answers(
            lambda request: (
                "in short" if summarises(request) else Pauses(gate, "Well", Answer(", yes."))
            )
        )
        run = await begun(talk.agent.run("really?", session_id="s"))
        await gate.reached.wait()
        assert await talk.agent.compact("s", by="bob") == 3
        gate.release()
        assert (await run).final_text == "Well, yes."
        session = await talk.manager.get("s")
        assert session is not None
        kinds = [event.kind for event in session.events]
        assert kinds[-3:] == ["user_message", "compaction_done", "assistant_message"]
        assert json.dumps(talk.chats[-1]["messages"][-1]["content"]) == '"really?"'


# -- killed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", ["compact.before", "compact.after"])
async def test_whoever_is_killed_at_a_compaction_goes_on_after_the_next_start(
    point: str, tmp_path: Path
) -> None:
    store, program = SQLiteSessionManager(tmp_path / "s.db"), tmp_path / "talker.py"
    program.write_text(TALKER)
    async with talking(manager=store) as talk:

        async def lives(turns: int) -> tuple[int | None, str]:
            arguments = [program, tmp_path / "s.db", talk.server.base_url, tmp_path, turns]
            process = await create_forked(*map(str, arguments), env=environment({}), stdout=PIPE)
            told, _ = await process.communicate()
            return process.returncode, told.decode().strip()

        (tmp_path / "kill").write_text(f"{point} 1")
        assert (await lives(20))[0] == -signal.SIGKILL
        session = await store.get("s")
        assert session is not None
        assert len(session.open_turns) == 1
        (tmp_path / "kill").unlink()
        assert await lives(0) == (0, "You are Alice.")
        log = await store.read_log("s")
    assert sum(isinstance(event, CompactionDoneEvent) for event in log) == 1
    assert talk.server.refused == []


# -- files -----------------------------------------------------------------------------------------


async def test_what_a_file_says_is_summarised_and_an_image_is_named(tmp_path: Path) -> None:
    store = SQLiteSessionManager(tmp_path / "s.db")
    text = await store.put_blob(b"My name is Alice.")
    image = await store.put_blob(b"\x89PNG\r\n\x1a\n" + bytes(20))
    files = (
        Attachment(sha256=text, media_type="text/plain", name="me.txt"),
        Attachment(sha256=image, media_type="image/png", name="me.png"),
    )
    async with talking(window=6_000, manager=store) as talk:
        await talk.agent.run(UserMessage(text="look", attachments=files), session_id="s")
        await fill(talk, 3)
        assert await talk.agent.compact("s", by="bob") == 2
        [asked] = talk.summaries
        told = asked["messages"][-1]["content"]
        assert "My name is Alice." in told
        assert "[image me.png]" in told
        assert "base64" not in told


async def test_turns_are_kept_by_what_their_files_hold(tmp_path: Path) -> None:
    store = SQLiteSessionManager(tmp_path / "s.db")
    text = await store.put_blob(b"word " * 1_000)
    file = Attachment(sha256=text, media_type="text/plain", name="words.txt")
    async with talking(window=4_000, manager=store) as talk:
        for number in range(6):
            said = UserMessage(text=str(number), attachments=(file,))
            await talk.agent.run(said, session_id="s")
        assert talk.server.refused == []
        assert await boundaries(talk)
