from __future__ import annotations

import json
from dataclasses import replace

from bot.events import (
    ApprovalDecidedEvent,
    AssistantMessageEvent,
    Attachment,
    Author,
    CompactionDoneEvent,
    Decision,
    ErasedEvent,
    Quote,
    RecordedEvent,
    ResetEvent,
    ToolCall,
    ToolResultEvent,
    ToolStartedEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnOutcome,
    UserMessageEvent,
)
from bot.frontend.own.export import Format, exported, markdown
from bot.sessions import InMemorySessionManager
from tests.sessions.samples import answers, requests, says

FILE = Attachment(sha256="f", media_type="image/png", name="cat\n.png")


def told(event: RecordedEvent) -> str:
    return "\n".join(markdown(event))


def test_what_was_said_is_told_with_who_and_what_came_along() -> None:
    message = UserMessageEvent(
        text="Look",
        author=Author(user_id="user-1", name="alice\n# not a heading"),
        attachments=(FILE,),
        quotes=(Quote(what="forwarded message", text="one\ntwo"),),
    )
    text = told(message)
    assert text.startswith("### alice # not a heading, ")
    assert "Look\n*File: cat .png*\n*forwarded message:*\n\n> one\n> two" in text
    assert told(replace(message, author=Author(user_id="user-1"))).startswith("### user-1, ")
    assert told(says()).startswith("### somebody, ")


def test_what_was_done_is_told() -> None:
    call = ToolCall(call_id="c", tool="ask", arguments="{}", extra={"id": "x"})
    assert "*Called ask:*\n\n> {}" in told(AssistantMessageEvent(text="", tool_calls=(call,)))
    result = ToolResultEvent(call_id="c", status=ToolStatus.OK, output="", attachments=(FILE,))
    assert told(result) == "*Result (ok):*\n\n>\n*File: cat .png*"
    assert "t waits for a decision, asked for by user-1." in told(requests())
    decided = ApprovalDecidedEvent(approval_id="a", decision=Decision.DENIED, by="user-2")
    assert "Denied by user-2." in told(decided)
    ended = TurnEndedEvent(outcome=TurnOutcome.STOPPED, text="Stopped.")
    assert "Ended as stopped. Stopped." in told(ended)
    assert told(ToolStartedEvent(call_id="c", holder="h")) == ""


def test_boundaries_and_what_was_forgotten_are_told() -> None:
    reset = ResetEvent(by="user-1").placed(5, "")
    assert "user-1 began the conversation anew." in told(reset)
    assert "user-1 took the reset back." in told(replace(reset, window_from=1))
    summary = CompactionDoneEvent(summary="They\nmet.", window_from=1)
    assert "What is older was summarised: They met." in told(summary)
    assert told(replace(summary, summary="")) == ""
    assert "A message that was forgotten." in told(ErasedEvent(was="user_message"))
    assert told(ErasedEvent(was="tool_result")) == ""


async def test_a_long_log_is_exported_in_pages_and_what_only_machines_need_is_left_out() -> None:
    store = InMemorySessionManager()
    session = await store.create("s")
    opaque = {"signature": "OPAQUE"}
    for number in range(600):
        session.append(says(f"question {number} \ud83e"))
        session.append(replace(answers(f"answer {number}"), extra=opaque, reasoning="HIDDEN"))
    await store.save(session)
    data = await exported(store, "s", Format.JSON, limit=10**7)
    assert data is not None
    assert len(json.loads(data)) == 1200
    text = await exported(store, "s", Format.MARKDOWN, limit=10**7)
    assert text is not None
    assert text.decode().count("\n### ") == 1199
    for each in (data, text):
        assert b"OPAQUE" not in each
        assert b"HIDDEN" not in each
    assert await exported(store, "s", Format.MARKDOWN, limit=1000) is None
