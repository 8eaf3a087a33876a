from __future__ import annotations

import asyncio
import itertools
import re
import threading
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field, SecretStr

from bot import Agent, SQLiteSessionManager, ToolError, ToolStatus, tool
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, roles
from tests.agent.tools.conftest import add, result_of


@pytest.fixture
def manager(tmp_path: Path) -> SQLiteSessionManager:
    """The one that people have: what a tool does is the same wherever its session is kept."""
    return SQLiteSessionManager(tmp_path / "sessions.db")


def test_the_schema_comes_from_signature_and_docstring() -> None:
    assert add.definition == {
        "type": "function",
        "function": {
            "name": "add",
            "description": "Add two numbers.",
            "parameters": {
                "type": "object",
                "properties": {
                    "a": {"type": "integer", "description": "The first."},
                    "b": {"type": "integer", "description": "The second.", "default": 1},
                },
                "required": ["a"],
                "additionalProperties": False,
            },
        },
    }


def test_a_tool_is_still_the_function_it_was() -> None:
    assert add(2, b=3) == 5
    assert add.__doc__ is not None
    assert add.__doc__.startswith("Add two")


def test_parameters_may_have_any_name_and_rich_types() -> None:
    class Point(BaseModel):
        x: int

    def draw(
        json: str, schema: Annotated[int, Field(ge=0)], mode: Literal["a", "b"], at: list[int]
    ) -> str:
        return f"{json}{schema}{mode}{at}"

    drawn = tool(draw)
    properties = drawn.definition["function"]["parameters"]["properties"]
    assert list(properties) == ["json", "schema", "mode", "at"]
    assert properties["mode"]["enum"] == ["a", "b"]
    with pytest.raises(ToolError, match="schema"):
        drawn.parameters.effective({"json": "x", "schema": -1, "mode": "a", "at": []})


@pytest.mark.parametrize("bad", ["*rest", "**rest"])
def test_a_tool_names_all_its_parameters(bad: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def f({bad}): pass", scope)  # noqa: S102 - the text is ours
    with pytest.raises(TypeError, match="rest"):
        tool(scope["f"]).parameters.effective("{}")


def test_positional_only_parameters_are_refused() -> None:
    def f(a: int, /) -> None: ...

    with pytest.raises(TypeError, match="by name"):
        tool(f).parameters.effective("{}")


def test_arguments_that_would_run_as_something_else_are_refused() -> None:
    def shout(text: Annotated[str, AfterValidator(lambda text: text + "!")]) -> None: ...

    def login(password: SecretStr) -> None: ...

    for function, arguments in (shout, {"text": "hi"}), (login, {"password": "p"}):
        with pytest.raises(ToolError, match="something else"):
            tool(function).parameters.effective(arguments)


def test_a_gate_is_a_plain_function() -> None:
    async def gate(arguments: Mapping[str, Any]) -> bool:
        return False

    with pytest.raises(TypeError, match="plain function"):
        tool(approval=gate)(lambda: None)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["", "with space", "<lambda>", "x" * 65, "ünder"])
def test_a_name_that_services_refuse_is_refused_when_the_tool_is_made(bad: str) -> None:
    with pytest.raises(ValueError, match="name"):
        tool(name=bad)(lambda: None)


class Greeter:
    """Say hello."""

    def __call__(self, who: str) -> str:
        return f"hello {who}"


def greet_with(greeting: str, who: str) -> str:
    return f"{greeting} {who}"


@pytest.mark.parametrize("function", [Greeter(), partial(greet_with, "hello"), Greeter().__call__])
async def test_whatever_can_be_called_can_be_a_tool(
    make_agent: MakeAgent, model: ScriptedModel, function: Callable[..., str]
) -> None:
    result = await result_of(make_agent, model, tool(name="greet")(function), {"who": "Al"})
    assert result.output == "hello Al"


async def test_an_async_function_behind_a_plain_decorator_is_awaited(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    def decorated(function: Callable[[], Coroutine[Any, Any, str]]) -> Callable[[], Any]:
        return lambda: function()

    async def real() -> str:
        return "done for real"

    used = tool(name="real")(decorated(real))
    assert (await result_of(make_agent, model, used, {})).output == "done for real"


async def test_a_result_that_may_never_end_is_refused(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    def endless() -> object:
        return itertools.count()

    result = await result_of(make_agent, model, endless, {})
    assert result.status is ToolStatus.ERROR
    assert "not JSON" in result.output


async def test_a_tool_that_awaits_something_cancelled_only_fails(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    async def unlucky() -> None:
        lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lost.cancel()
        await lost

    result = await result_of(make_agent, model, unlucky, {})
    assert result.status is ToolStatus.ERROR
    assert "CancelledError" in result.output


async def test_an_async_tool_that_tries_to_end_the_process_only_fails(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    async def quits() -> None:
        raise SystemExit(3)

    assert "SystemExit" in (await result_of(make_agent, model, quits, {})).output


async def test_a_tool_that_would_wait_for_its_own_session_is_refused(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    agents: list[Agent] = []

    async def ask_myself() -> str:
        return (await agents[0].run("hello me", session_id="s")).output

    agents.append(make_agent(tools=[ask_myself]))
    model.says(calls=[("ask_myself", {})]).then("I cannot")
    assert (await agents[0].run("go", session_id="s")).output == "I cannot"
    assert "RuntimeError" in model.requests[1]["messages"][-1]["content"]


def test_two_tools_of_one_name_are_refused(make_agent: MakeAgent) -> None:
    with pytest.raises(ValueError, match="same name"):
        make_agent(tools=[add, add])


async def test_arguments_are_coerced_and_results_are_json(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    result = await result_of(make_agent, model, add, {"a": "2"})
    assert (result.status, result.output) == (ToolStatus.OK, "3")
    assert roles(model.requests[1]) == "u,a,t"
    assert model.requests[1]["messages"][2]["content"] == "3"


@pytest.mark.parametrize(
    "written", ["{", "[]", '"text"', "3", '{"a": "x"}', '{"a": 1, "c": 2}', "", "null"]
)
async def test_bad_arguments_are_told_to_the_model_and_nothing_runs(
    make_agent: MakeAgent, model: ScriptedModel, written: str
) -> None:
    result = await result_of(make_agent, model, add, written)
    assert result.status is ToolStatus.ERROR
    assert "Invalid arguments" in result.output


@pytest.mark.parametrize("written", ["", "null", "{}"])
async def test_nothing_is_enough_for_a_tool_that_needs_nothing(
    make_agent: MakeAgent, model: ScriptedModel, written: str
) -> None:
    def ping() -> str:
        return "pong"

    assert (await result_of(make_agent, model, ping, written)).output == "pong"


async def test_an_unknown_tool_is_told_with_the_known_ones(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    agent = make_agent(tools=[add])
    model.says(calls=[("subtract", {})]).then("sorry")
    await agent.run("go", session_id="s")
    told = model.requests[1]["messages"][-1]["content"]
    assert "subtract" in told
    assert "add" in told


async def test_async_and_sync_tools_of_one_answer_run_side_by_side(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    loop_met, thread_met = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def sync() -> str:
        loop.call_soon_threadsafe(loop_met.set)
        assert thread_met.wait(10)
        return "sync"

    async def asynchronous() -> str:
        await loop_met.wait()
        thread_met.set()
        return "async"

    agent = make_agent(tools=[sync, asynchronous])
    model.says(calls=[("sync", {}), ("asynchronous", {})]).then("both")
    await agent.run("go", session_id="s")
    outputs = [m["content"] for m in model.requests[1]["messages"] if m["role"] == "tool"]
    assert outputs == ["sync", "async"]


async def test_a_tool_that_raises_is_told_by_kind_and_the_log_has_the_rest(
    make_agent: MakeAgent, model: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise KeyError("sk-secret")

    result = await result_of(make_agent, model, broken, {})
    assert result.status is ToolStatus.ERROR
    told = re.fullmatch(r"The tool failed \(KeyError, reference (\w+)\)\.", result.output)
    assert told is not None
    assert told[1] in caplog.text
    assert "sk-secret" in caplog.text


async def test_a_tool_error_is_told_in_its_own_words(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    async def picky() -> None:
        raise ToolError("Say please.")

    assert (await result_of(make_agent, model, picky, {})).output == "Say please."


@pytest.mark.parametrize("way", [SystemExit, StopIteration, KeyboardInterrupt])
async def test_a_tool_that_tries_to_end_the_process_only_fails(
    make_agent: MakeAgent, model: ScriptedModel, way: type[BaseException]
) -> None:
    def quits() -> None:
        raise way

    result = await result_of(make_agent, model, quits, {})
    assert result.status is ToolStatus.ERROR
    assert "RuntimeError" in result.output


async def test_a_timeout_error_of_the_tools_own_is_an_error(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    async def gives_up() -> None:
        raise TimeoutError("the printer is asleep")

    result = await result_of(make_agent, model, gives_up, {})
    assert result.status is ToolStatus.ERROR
    assert "TimeoutError" in result.output


@pytest.mark.parametrize("value", [object(), float("nan"), {"a": [float("inf")]}])
async def test_a_result_that_is_not_json_is_told(
    make_agent: MakeAgent, model: ScriptedModel, value: object
) -> None:
    def odd() -> object:
        return value

    result = await result_of(make_agent, model, odd, {})
    assert result.status is ToolStatus.ERROR
    assert "not JSON" in result.output


def when() -> dict[str, Any]:
    return {"at": datetime(2026, 1, 1, tzinfo=UTC), "note": None}


async def when_asynchronous() -> dict[str, Any]:
    return when()


@pytest.mark.parametrize("function", [when, when_asynchronous])
async def test_results_of_other_kinds_are_told_as_json(
    make_agent: MakeAgent, model: ScriptedModel, function: Callable[[], Any]
) -> None:
    result = await result_of(make_agent, model, function, {})
    assert result.output == '{"at": "2026-01-01T00:00:00Z", "note": null}'


async def test_a_tool_without_a_result_is_done(make_agent: MakeAgent, model: ScriptedModel) -> None:
    def nothing() -> None: ...

    assert (await result_of(make_agent, model, nothing, {})).output == "done"


async def test_a_tool_that_takes_too_long_has_an_unknown_outcome(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    release = threading.Event()

    def slow() -> None:
        release.wait(30)

    result = await result_of(make_agent, model, tool(timeout=0.05)(slow), {})
    release.set()
    assert result.status is ToolStatus.UNKNOWN
    assert "longer than 0.05 s" in result.output


async def test_the_same_call_may_be_made_as_often_as_it_works(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    agent = make_agent(tools=[add])
    model.says(calls=[("add", {"a": 1})] * 6).then("six times")
    await agent.run("go", session_id="s")
    outputs = [m["content"] for m in model.requests[1]["messages"] if m["role"] == "tool"]
    assert outputs == ["2"] * 6
