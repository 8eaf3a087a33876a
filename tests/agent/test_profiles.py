"""Sessions that are answered in ways of their own: model, prompt, extras and tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from bot import (
    AssistantMessageEvent,
    DoneEvent,
    Provider,
    RunStatus,
    SessionManager,
    ToolResultEvent,
    tool,
)
from bot.agent import Profile
from bot.agent.model.models import Models
from bot.agent.model.service import ModelAnswer, ModelEvent, ModelRequest
from bot.errors import StorageError
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, begun, events_of


class Notes:
    """Profiles that a test writes down; a session without one is answered as any."""

    def __init__(self, **profiles: Profile) -> None:
        self.profiles = profiles
        self.broken = False

    async def of(self, session_id: str) -> Profile:
        if self.broken:
            raise StorageError("the disk is gone")
        return self.profiles.get(session_id, Profile())


@tool
def roll() -> int:
    """Roll a die."""
    return 4


@tool
def look() -> str:
    """Look at the sky."""
    return "blue"


GERMAN = Profile(
    model="other",
    system_prompt="Speak German.",
    extra={"temperature": 0.5},
    tools=frozenset({"look", "unknown"}),
)


def offered(request: dict[str, Any]) -> list[str]:
    return [each["function"]["name"] for each in request.get("tools", ())]


async def test_each_session_is_answered_by_its_own_profile(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    model.says("Hallo.").then("Hello.")
    agent = make_agent(system_prompt="Be brief.", tools=[roll, look], profiles=Notes(de=GERMAN))
    await agent.run("hi", "de")
    await agent.run("hi", "en")
    german, english = model.requests
    assert (german["model"], german["temperature"], offered(german)) == ("other", 0.5, ["look"])
    assert german["messages"][0]["content"] == "Speak German."
    assert (english["model"], offered(english)) == ("scripted", ["roll", "look"])
    assert "temperature" not in english
    assert english["messages"][0]["content"] == "Be brief."
    [answer] = await events_of(manager, "de", AssistantMessageEvent)
    assert isinstance(answer, AssistantMessageEvent)
    assert answer.model == "other"
    assert list(agent.tools) == ["roll", "look"]


async def test_a_change_counts_from_the_next_turn_on_and_not_in_one_that_runs(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    notes = Notes(s=GERMAN)

    @tool
    def change() -> str:
        """Change the profile in the middle of a turn."""
        notes.profiles["s"] = replace(GERMAN, system_prompt="Speak French.")
        return "changed"

    notes.profiles["s"] = replace(GERMAN, tools=None)
    model.says(calls=[("change", {})]).then("Hallo.").then("Salut.")
    agent = make_agent(tools=[change, look], profiles=notes)
    await agent.run("hi", "s")
    await agent.run("hi", "s")
    prompts = [request["messages"][0]["content"] for request in model.requests]
    assert prompts == ["Speak German.", "Speak German.", "Speak French."]
    assert [offered(each) for each in model.requests][1:] == [["change", "look"], ["look"]]


async def test_a_turn_behind_a_running_one_goes_by_what_holds_when_it_begins(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    notes = Notes(s=GERMAN)
    gate = model.pauses("Ha", "llo.")
    model.then("Salut.")
    agent = make_agent(profiles=notes)
    first = await begun(agent.run("hi", "s"))
    await gate.reached.wait()
    second = await begun(agent.run("hi", "s"))
    notes.profiles["s"] = replace(GERMAN, system_prompt=None, extra={}, model=None)
    gate.release()
    await first
    await second
    assert [each["model"] for each in model.requests] == ["other", "scripted"]
    assert [each["messages"][0]["role"] for each in model.requests] == ["system", "user"]


async def test_a_tool_that_is_switched_off_while_a_call_waits_does_not_run(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    ran: list[str] = []

    @tool(approval=True)
    def delete() -> str:
        """Delete everything."""
        ran.append("deleted")
        return "gone"

    notes = Notes()
    model.says(calls=[("delete", {})]).then("It is not to be.")
    agent = make_agent(tools=[delete], profiles=notes)
    paused = await agent.run("clean up", "s")
    notes.profiles["s"] = Profile(tools=frozenset())
    done = await agent.approve("s", paused.pending[0].approval_id, by="mod")
    assert done.status is RunStatus.COMPLETED
    assert ran == []
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert result.output == "There is no tool 'delete' now; nothing was done."
    assert "tools" not in model.requests[1]


async def test_a_call_of_a_tool_that_is_off_is_told_which_there_are(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    model.says(calls=[("roll", {})]).then("Then not.")
    agent = make_agent(tools=[roll, look], profiles=Notes(s=GERMAN))
    await agent.run("roll", "s")
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert result.output == "There is no tool 'roll'. There are: look."


async def test_opaque_data_goes_back_to_the_model_that_gave_it_only(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    call = {"index": 0, "id": "theirs", "function": {"name": "look", "arguments": "{}"}}
    chunk = {"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    model.chunks([chunk, "[DONE]"]).then("blue").then("Blau.")
    notes = Notes()
    agent = make_agent(tools=[look], profiles=notes)
    await agent.run("what colour?", "s")
    notes.profiles["s"] = GERMAN
    await agent.run("welche Farbe?", "s")
    [same], [other] = (
        [each["tool_calls"][0]["id"] for each in request["messages"] if each.get("tool_calls")]
        for request in model.requests[1:]
    )
    assert same == "theirs"
    assert other != "theirs"


async def test_a_compaction_by_hand_asks_the_model_of_the_session(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    for text in ("one", "two", "three", "In short."):
        model.then(text)
    agent = make_agent(profiles=Notes(s=GERMAN))
    for _ in range(3):
        await agent.run("hi", "s", user_id="u")
    assert await agent.compact("s", by="u") == 1
    assert model.requests[-1]["model"] == "other"
    assert "temperature" not in model.requests[-1]


async def test_a_profile_that_cannot_be_read_leaves_the_turn_open(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    notes = Notes(s=GERMAN)
    notes.broken = True
    model.says("Hallo.")
    agent = make_agent(profiles=notes)
    failed = await begun(agent.run("hi", "s"))
    assert (await failed).status is RunStatus.FAILED
    notes.broken = False
    events = [event async for event in agent.resume("s")]
    assert isinstance(events[-1], DoneEvent)
    assert events[-1].final_text == "Hallo."


class Alone:
    """A model whose service has no others."""

    model = "alone"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield ModelAnswer(text="me")

    async def close(self) -> None:
        pass


def test_a_service_without_other_models_answers_with_its_own() -> None:
    models = Models(Alone())
    assert models.of("other").model.model == "alone"
    assert models.of("other") is models.of(None)


@pytest.mark.parametrize("name", ["m", "n"])
async def test_a_model_of_a_service_is_made_once(name: str) -> None:
    provider = Provider(model="m", api_key="key", base_url="http://127.0.0.1:9/v1")
    models = Models(provider, window=5_000)
    known = models.of(name)
    assert known is models.of(name)
    assert known.model.model == name
    assert await known.capacity.window() == 5_000
    assert (known.model is provider) == (name == "m")
    await provider.close()
