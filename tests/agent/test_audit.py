"""The audit: one entry for each request, decision, start and end, from the log alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot import SQLiteSessionManager, ToolError, tool
from bot.agent.arguments import arguments_hash
from bot.agent.audit import Trail, whole_audit
from bot.events import (
    ApprovalDecidedEvent,
    AssistantMessageEvent,
    Decision,
    ToolCall,
    ToolResultEvent,
    ToolStatus,
    utc_now,
)
from bot.sandbox.model import ScriptedModel
from bot.sessions.stores.policies import ChangeKind, PolicyChange, PolicyStore
from tests.agent.conftest import MakeAgent


@pytest.fixture
def manager(tmp_path: Path) -> SQLiteSessionManager:
    return SQLiteSessionManager(tmp_path / "sessions.db")


@tool(approval=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool
def look() -> str:
    """Look."""
    raise ToolError("nothing there")


async def test_everything_about_a_call_is_told_by_session(
    make_agent: MakeAgent, model: ScriptedModel, manager: SQLiteSessionManager
) -> None:
    model.says(calls=[("pay", {"amount": 1}), ("look", {})]).then("done")
    agent = make_agent(tools=[pay, look])
    [request] = (await agent.run("go", session_id="s", user_id="alice")).pending
    await agent.approve("s", request.approval_id, by="bob", note="less", arguments={"amount": 2})
    await PolicyStore(manager.database).add(
        PolicyChange(scope="s", kind=ChangeKind.RULE, subject="pay", by="mod")
    )
    entries = [entry async for entry in whole_audit(manager)]
    asked, ran = (arguments_hash("pay", {"amount": number}) for number in (1, 2))
    assert [
        (each.what, each.tool, each.outcome, each.arguments_sha256, each.note)
        for each in entries
        if each.tool == "pay"
    ] == [
        ("policy", "pay", "rule", "", ""),
        ("requested", "pay", "", asked, ""),
        ("decided", "pay", "approved", ran, "edited; less"),
        ("started", "pay", "", ran, ""),
        ("ended", "pay", "ok", ran, ""),
    ]
    looked = [each for each in entries if each.tool == "look"]
    assert [each.outcome for each in looked] == ["", "error"]
    assert {each.arguments_sha256 for each in looked} == {arguments_hash("look", {})}
    assert [e async for e in whole_audit(manager, session_id="t")] == []
    assert len([e async for e in whole_audit(manager, session_id="s")]) == len(entries)
    assert [e async for e in whole_audit(manager, since=utc_now())] == []
    assert [e async for e in whole_audit(manager, since=utc_now(), session_id="s")] == []
    assert json.loads(entries[1].to_json())["who"] == "alice"
    assert "decided pay approved by bob (edited; less)" in str(entries[-3])


def test_what_a_log_tells_half_is_told_as_far_as_it_goes() -> None:
    trail = Trail("s")
    decided = ApprovalDecidedEvent(approval_id="a", decision=Decision.DENIED, by="bob")
    assert list(trail.read(decided)) == []
    ended = ToolResultEvent(call_id="c", status=ToolStatus.UNKNOWN, output="")
    [entry] = trail.read(ended)
    assert (entry.tool, entry.outcome, entry.who) == ("", "unknown", "")
    assert str(entry).endswith("s ended unknown c")
    calls = tuple(ToolCall(call_id=text, tool="pay", arguments=text) for text in ("{", "[1]", ""))
    list(trail.read(AssistantMessageEvent(text="", tool_calls=calls)))
    hashes = [
        next(iter(trail.read(ToolResultEvent(call_id=c.call_id, status=ToolStatus.OK, output=""))))
        for c in calls
    ]
    assert [each.arguments_sha256 for each in hashes] == ["", "", arguments_hash("pay", {})]
