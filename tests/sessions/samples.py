"""Events to append, each with only what a test is about."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    Decision,
    ToolCall,
    ToolResultEvent,
    ToolStartedEvent,
    ToolStatus,
    UserMessageEvent,
)

LATER = datetime(2100, 1, 1, tzinfo=UTC)


def says(text: str = "hi", source_id: str | None = None) -> UserMessageEvent:
    return UserMessageEvent(text=text, source_id=source_id)


def answers(text: str = "hello") -> AssistantMessageEvent:
    return AssistantMessageEvent(text=text)


def calls(*call_ids: str) -> AssistantMessageEvent:
    return AssistantMessageEvent(
        text="",
        tool_calls=tuple(ToolCall(call_id=each, tool="t", arguments="{}") for each in call_ids),
    )


def requests(approval_id: str = "a", call_id: str = "c") -> ApprovalRequestedEvent:
    return ApprovalRequestedEvent(
        approval_id=approval_id,
        call_id=call_id,
        tool="t",
        arguments={},
        arguments_hash="0",
        requested_by="user-1",
        expires_at=LATER,
    )


def decides(approval_id: str = "a") -> ApprovalDecidedEvent:
    return ApprovalDecidedEvent(approval_id=approval_id, decision=Decision.APPROVED, by="user-1")


def starts(call_id: str = "c") -> ToolStartedEvent:
    return ToolStartedEvent(call_id=call_id, holder="h")


def results(call_id: str = "c") -> ToolResultEvent:
    return ToolResultEvent(call_id=call_id, status=ToolStatus.OK, output="done")
