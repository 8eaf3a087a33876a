"""The audit: every request, decision and execution of a tool, read from the logs.

What is not promised here: that it is complete where a log was forgotten on somebody's request.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.agent.arguments import arguments_hash
from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    RecordedEvent,
    ToolCall,
    ToolResultEvent,
    ToolStartedEvent,
    UserMessageEvent,
)
from bot.sessions.database.sql import SQLSessionManager
from bot.sessions.stores.actions import ActionStore
from bot.sessions.stores.policies import PolicyChange, PolicyStore
from bot.sessions.times import EVER

PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One thing that happened.

    Attributes:
        what: ``requested``, ``decided``, ``started``, ``ended`` or ``policy``.
        who: Who asked, or decided, or changed the policy.
        arguments_sha256: Binds it to the arguments: of a call that nobody was asked about, as the
            model wrote them.
        outcome: What was decided, or how it ended.
        note: A reason, or the standing yes by which a call ran unasked.
    """

    at: datetime
    session: str
    what: str
    who: str
    tool: str
    call_id: str = ""
    approval_id: str = ""
    arguments_sha256: str = ""
    outcome: str = ""
    note: str = ""

    def to_json(self) -> str:
        """Return it as one line of JSON."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps(values | {"at": self.at.isoformat()}, ensure_ascii=False)

    def __str__(self) -> str:
        words = (self.what, self.tool, self.outcome, f"by {self.who}" if self.who else "")
        line = " ".join(filter(None, words))
        ids = " ".join(filter(None, (self.approval_id or self.call_id, self.arguments_sha256[:12])))
        note = f" ({self.note})" if self.note else ""
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.session} {line}{note} {ids}".rstrip()


@dataclass(slots=True)
class Trail:
    """Reads the log of one session, event by event."""

    session: str
    _askers: dict[str, str] = field(default_factory=dict)
    _calls: dict[str, tuple[str, str]] = field(default_factory=dict)
    _requests: dict[str, ApprovalRequestedEvent] = field(default_factory=dict)

    def read(self, event: RecordedEvent) -> Iterator[AuditEntry]:
        """Give what an event means for the audit; nothing for most."""
        match event:
            case UserMessageEvent() if event.author is not None:
                self._askers.setdefault(event.turn_id, event.author.user_id)
            case AssistantMessageEvent():
                self._calls |= {each.call_id: _named(each) for each in event.tool_calls}
            case ApprovalRequestedEvent():
                yield self._requested(event)
            case ApprovalDecidedEvent() if event.approval_id in self._requests:
                yield self._decided(event)
            case ToolStartedEvent():
                yield self._of_call(event, event.call_id, "started", note=event.grant)
            case ToolResultEvent():
                yield self._of_call(event, event.call_id, "ended", outcome=event.status)
                self._calls.pop(event.call_id, None)
            case _:
                pass

    def _requested(self, event: ApprovalRequestedEvent) -> AuditEntry:
        self._requests[event.approval_id] = event
        self._calls[event.call_id] = (event.tool, event.arguments_hash)
        return AuditEntry(
            at=event.at,
            session=self.session,
            what="requested",
            who=event.requested_by,
            tool=event.tool,
            call_id=event.call_id,
            approval_id=event.approval_id,
            arguments_sha256=event.arguments_hash,
        )

    def _decided(self, event: ApprovalDecidedEvent) -> AuditEntry:
        request = self._requests.pop(event.approval_id)
        self._calls[request.call_id] = (request.tool, event.arguments_hash)
        edited = "edited" if event.arguments is not None else ""
        return AuditEntry(
            at=event.at,
            session=self.session,
            what="decided",
            who=event.by,
            tool=request.tool,
            call_id=request.call_id,
            approval_id=event.approval_id,
            arguments_sha256=event.arguments_hash,
            outcome=event.decision,
            note="; ".join(filter(None, (edited, event.reason))),
        )

    def _of_call(
        self, event: RecordedEvent, call_id: str, what: str, *, outcome: str = "", note: str = ""
    ) -> AuditEntry:
        tool, digest = self._calls.get(call_id, ("", ""))
        return AuditEntry(
            at=event.at,
            session=self.session,
            what=what,
            who=self._askers.get(event.turn_id, ""),
            tool=tool,
            call_id=call_id,
            arguments_sha256=digest,
            outcome=outcome,
            note=note,
        )


async def audit(
    actions: ActionStore, sessions: AsyncIterable[str], *, since: datetime | None = None
) -> AsyncGenerator[AuditEntry, None]:
    """Give the entries of these sessions, one session after the other, page by page."""
    async for session_id in sessions:
        trail, after = Trail(session_id), 0
        while page := await actions.log(session_id, after=after, limit=PAGE):
            for event in page:
                for entry in trail.read(event):
                    if since is None or entry.at >= since:
                        yield entry
            after = page[-1].seq


async def whole_audit(
    store: SQLSessionManager, *, since: datetime | None = None, session_id: str | None = None
) -> AsyncGenerator[AuditEntry, None]:
    """Give the entries of a whole store, or of one session: first what changed the policy."""
    for change in await PolicyStore(store.database).since(since or EVER):
        if session_id in (None, change.scope):
            yield of_change(change)
    actions = ActionStore(store.database)
    every = actions.sessions(since=since) if session_id is None else only(session_id)
    async with aclosing(every) as sessions:
        async with aclosing(audit(actions, sessions, since=since)) as entries:
            async for entry in entries:
                yield entry


async def only(session_id: str) -> AsyncGenerator[str, None]:
    """Give one id, where several could be."""
    yield session_id


def of_change(change: PolicyChange) -> AuditEntry:
    """Return the entry of a change of policy."""
    return AuditEntry(
        at=change.at,
        session=change.scope,
        what="policy",
        who=change.by,
        tool=change.subject,
        outcome=change.kind,
        note=json.dumps(change.body, ensure_ascii=False) if change.body else "",
    )


def _named(call: ToolCall) -> tuple[str, str]:
    try:
        written = json.loads(call.arguments or "{}")
    except ValueError:
        return call.tool, ""
    return call.tool, arguments_hash(call.tool, written) if isinstance(written, dict) else ""
