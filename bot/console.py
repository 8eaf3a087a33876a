"""The agent in a terminal."""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
import threading
import unicodedata
from collections.abc import Sequence
from contextlib import aclosing

from bot.agent import Agent, AgentRun
from bot.agent.history.visible import visible_json
from bot.errors import ModelError, ParleyError
from bot.events import (
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    DoneEvent,
    ErrorEvent,
    Event,
    RateLimitEvent,
    RunStatus,
    TextChunkEvent,
    ToolResultEvent,
    ToolStatus,
)
from bot.sessions import SessionManager

SESSION_ID = "console"
USER_ID = "console"
HELP = "/reset begins anew, /compact summarises what is older, Ctrl-C stops an answer, Ctrl-D ends."

_ENDS = {
    RunStatus.STOPPED: "(stopped)",
    RunStatus.HANDED_OVER: "(this is being answered elsewhere)",
}


class Lines:
    """The lines of a descriptor, read ahead in a thread that never keeps the process alive.

    The thread reads the descriptor itself: one that waits in `sys.stdin` would hold a lock that
    the interpreter wants when it ends.
    """

    def __init__(self, descriptor: int) -> None:
        self.interactive = os.isatty(descriptor)
        self._descriptor = descriptor
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="console input", daemon=True).start()

    async def next(self) -> str | None:
        """Return the next line without its end, or `None` after the last."""
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        return line

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        rest = ""
        try:
            while data := os.read(self._descriptor, 65_536):
                *lines, rest = (rest + decoder.decode(data)).split("\n")
                self._put(*lines)
            self._put(*filter(None, [rest]), None)
        except RuntimeError:
            return  # the loop has closed: nobody reads any more

    def _put(self, *lines: str | None) -> None:
        for line in lines:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


class Console:
    """One session, talked to line by line."""

    def __init__(
        self, agent: Agent, sessions: SessionManager, *, lines: Lines, session_id: str = SESSION_ID
    ) -> None:
        self._agent = agent
        self._sessions = sessions
        self._lines = lines
        self._session_id = session_id
        self._answering = False
        self._stopping: asyncio.Task[bool] | None = None

    async def converse(self) -> None:
        """Go on with what is open, then answer line by line until there are no more."""
        if self._lines.interactive:
            _show(f"Session {self._session_id}. {HELP}\n")
        session = await self._sessions.get(self._session_id)
        if session is not None and session.open_turns:
            await self._answer(self._agent.resume(self._session_id))
        while (line := await self._ask("> ")) is not None:
            await self._obey(line.strip())
        if self._lines.interactive:
            _show("\n")

    def interrupt(self) -> None:
        """Stop the answer that is being given; without one, tell how to end."""
        if not self._answering:
            _show(f"\n{HELP}\n> ")
        elif self._stopping is None:
            self._stopping = asyncio.create_task(self._agent.stop(self._session_id, by=USER_ID))

    async def _obey(self, line: str) -> None:
        if line == "/reset":
            forgotten = await self._agent.reset(self._session_id, by=USER_ID)
            _show(f"(begun anew; messages forgotten: {forgotten})\n")
        elif line == "/compact":
            await self._compact()
        elif line == "/help":
            _show(f"{HELP}\n")
        elif line:
            await self._answer(self._agent.run(line, self._session_id, user_id=USER_ID))

    async def _compact(self) -> None:
        try:
            count = await self._agent.compact(self._session_id, by=USER_ID)
        except ModelError as exc:
            _show(f"({exc})\n")
        else:
            _show(f"(messages summarised: {count})\n")

    async def _answer(self, run: AgentRun) -> None:
        """Show a run, and ask about every request that it waits for."""
        try:
            pending = await self._follow(run)
            while pending:
                decision = await self._decision(pending[0])
                if decision is None:
                    return
                pending = await self._follow(decision)
        except (ParleyError, ValueError) as exc:
            _show(f"({exc})\n")

    async def _follow(self, run: AgentRun) -> Sequence[ApprovalRequestedEvent]:
        pending: Sequence[ApprovalRequestedEvent] = ()
        self._answering = True
        try:
            async with aclosing(aiter(run)) as events:
                async for event in events:
                    _show(_told(event))
                    if isinstance(event, DoneEvent):
                        pending = event.pending
        finally:
            self._answering = False
            if self._stopping is not None:
                await self._stopping
                self._stopping = None
        return pending

    async def _decision(self, request: ApprovalRequestedEvent) -> AgentRun | None:
        """Ask until there is a yes or a no; `None` leaves the request waiting."""
        _show(f"May I run {request.tool}?\n{visible_json(dict(request.arguments))}\n")
        while (line := await self._ask("y or n (n and a reason): ")) is not None:
            word, _, reason = line.strip().partition(" ")
            if word.lower() in ("y", "yes"):
                return self._agent.approve(self._session_id, request.approval_id, by=USER_ID)
            if word.lower() in ("n", "no"):
                return self._agent.deny(
                    self._session_id, request.approval_id, by=USER_ID, reason=reason.strip() or None
                )
        _show("(it goes on waiting)\n")
        return None

    async def _ask(self, prompt: str) -> str | None:
        if self._lines.interactive:
            _show(prompt)
        return await self._lines.next()


def printable(text: str) -> str:
    """Return a text without the characters that steer a terminal."""
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) != "Cc")


def one_line(text: str) -> str:
    """Return a text on one line."""
    return printable(" ".join(text.split()))


def _told(event: Event) -> str:
    match event:
        case TextChunkEvent():
            return printable(event.chunk)
        case AssistantMessageEvent():
            calls = "".join(
                f"[{call.tool} {one_line(call.arguments)}]\n" for call in event.tool_calls
            )
            return f"\n{calls}" if event.text else calls
        case ToolResultEvent() if event.status is not ToolStatus.OK:
            return f"[{event.status.value}] {printable(event.output)}\n"
        case ToolResultEvent() if event.attachments:
            names = ", ".join(each.name for each in event.attachments)
            return f"(made: {printable(names)}; it is kept, but not shown here)\n"
        case RateLimitEvent():
            wait = f" in {event.retry_after:.0f} s" if event.retry_after >= 1 else ""
            return f"(the model service does not answer; I ask it again{wait})\n"
        case ErrorEvent():
            reference = f" (reference {event.reference})" if event.reference else ""
            return f"{event.message}{reference}\n"
        case DoneEvent():
            return f"{_ENDS[event.status]}\n" if event.status in _ENDS else ""
        case _:
            return ""


def _show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
