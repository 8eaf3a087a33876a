from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from bot import (
    Agent,
    AssistantMessageEvent,
    DoneEvent,
    ErrorEvent,
    ModelUnavailableError,
    RateLimitEvent,
    ReasoningChunkEvent,
    RunStatus,
    Session,
    StorageError,
    TextChunkEvent,
)
from bot.agent.model.service import ModelRequest, TextDelta
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, begun
from tests.sessions.third_party import DictManager


async def test_a_busy_service_is_told_while_it_is_asked_again(
    agent: Agent, model: ScriptedModel
) -> None:
    model.fails(503).says("here")
    seen = [event async for event in agent.run("hi", session_id="s")]
    assert [event.retry_after > 0 for event in seen if isinstance(event, RateLimitEvent)] == [True]
    assert isinstance(seen[-1], DoneEvent)
    assert seen[-1].final_text == "here"


async def test_reasoning_is_streamed_and_not_part_of_the_answer(
    agent: Agent, model: ScriptedModel
) -> None:
    delta = {"reasoning_content": "hmm"}
    model.chunks(
        [
            {"choices": [{"index": 0, "delta": delta}]},
            {"choices": [{"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}]},
        ]
    )
    seen = [event async for event in agent.run("hi", session_id="s")]
    assert [e.chunk for e in seen if isinstance(e, ReasoningChunkEvent)] == ["hmm"]
    assert [e.chunk for e in seen if isinstance(e, TextChunkEvent)] == ["yes"]
    [answer] = [e for e in seen if isinstance(e, AssistantMessageEvent)]
    assert (answer.text, answer.reasoning) == ("yes", "hmm")


async def test_of_long_reasoning_the_log_keeps_the_beginning(
    agent: Agent, model: ScriptedModel
) -> None:
    delta = {"reasoning_content": "hmm " * 1000, "content": "yes"}
    model.chunks([{"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}])
    result = await agent.run("hi", session_id="s")
    answer = result.context.session.events[-1]
    assert isinstance(answer, AssistantMessageEvent)
    assert answer.reasoning == "hmm " * 500


async def test_more_model_calls_than_allowed_wait_and_are_told(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    agent = make_agent(max_model_calls=1)
    gate = model.pauses("", "first")
    model.says("second")
    first = await begun(agent.run("one", session_id="a"))
    await gate.reached.wait()
    told = asyncio.Event()

    async def other() -> str:
        async for event in agent.run("two", session_id="b"):
            if isinstance(event, RateLimitEvent):
                told.set()
        return event.final_text if isinstance(event, DoneEvent) else ""

    second = asyncio.create_task(other())
    await told.wait()
    assert len(model.requests) == 1
    gate.release()
    assert (await first).final_text == "first"
    assert await second == "second"


async def test_a_run_that_waits_for_a_free_model_call_can_be_stopped(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    agent = make_agent(max_model_calls=1)
    gate = model.pauses("", "first")
    first = await begun(agent.run("one", session_id="a"))
    await gate.reached.wait()
    second = await begun(agent.run("two", session_id="b"))
    await asyncio.sleep(0)
    assert await agent.stop("b", by="bob")
    assert (await second).status is RunStatus.STOPPED
    gate.release()
    await first


async def test_stop_and_reset_of_a_session_that_does_not_exist_do_nothing(agent: Agent) -> None:
    assert not await agent.stop("nowhere", by="bob")
    assert await agent.reset("nowhere", by="bob") == 0
    assert await agent.pending("nowhere") == ()


class FailingManager(DictManager):
    """Its disk is full from the second save on, until it is mended."""

    def __init__(self) -> None:
        super().__init__()
        self.saves_left = 2
        self.error: Exception = StorageError("the disk is full")

    async def save(self, session: Session) -> None:
        if self.saves_left == 0:
            raise self.error
        self.saves_left -= 1
        await super().save(session)


async def test_a_storage_that_fails_is_told_and_the_message_is_answered_when_it_is_back(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    manager = FailingManager()
    agent = make_agent(session_manager=manager)
    model.says("lost").says("answered late").says("and now this")
    seen = [event async for event in agent.run("hi", session_id="s")]
    error, done = seen[-2:]
    assert isinstance(error, ErrorEvent)
    assert error.code == "storage"
    assert isinstance(done, DoneEvent)
    assert done.status is RunStatus.FAILED
    with pytest.raises(StorageError):
        await agent.run("again", session_id="s")
    manager.saves_left = 100
    assert (await agent.run("are you back?", session_id="s")).output == "and now this"


async def test_an_error_nobody_foresaw_fails_the_turn_with_a_reference(
    make_agent: MakeAgent, model: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        model = "broken"

        async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            yield TextDelta("so far")
            raise ZeroDivisionError("a bug")

        async def close(self) -> None: ...

    agent = make_agent(provider=Broken())
    seen = [event async for event in agent.run("hi", session_id="s")]
    error = seen[-2]
    assert isinstance(error, ErrorEvent)
    assert error.code == "internal"
    assert "a bug" not in error.message
    assert error.reference in caplog.text
    assert "ZeroDivisionError" in caplog.text


async def test_a_stream_without_an_end_is_a_failure(make_agent: MakeAgent) -> None:
    class Endless:
        model = "endless"

        async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            yield TextDelta("and then")

        async def close(self) -> None: ...

    with pytest.raises(ModelUnavailableError):
        await make_agent(provider=Endless()).run("hi", session_id="s")


async def test_a_closed_agent_opens_again_when_used(agent: Agent, model: ScriptedModel) -> None:
    model.says("one").says("two")
    await agent.run("hi", session_id="s")
    await agent.close()
    assert (await agent.run("hi", session_id="s")).output == "two"


def test_a_program_that_raises_before_it_closes_still_exits(tmp_path: Path) -> None:
    program = """
import asyncio, sys
from pathlib import Path
from bot import Agent, Provider, SQLiteSessionManager

async def main():
    provider = Provider(model="m", api_key="k", base_url="http://127.0.0.1:9/v1", max_attempts=1)
    agent = Agent(provider=provider, session_manager=SQLiteSessionManager(Path(sys.argv[1])))
    await agent.run("hi", session_id="s")

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "s.db")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "ModelUnavailableError" in done.stderr


def test_importing_the_public_names_is_light() -> None:
    heavy = "openai pydantic aiosqlite discord aiohttp httpx2"
    told = f"print([m for m in '{heavy}'.split() if m in sys.modules])"
    program = f"import sys; from bot import *; {told}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
