"""Letting people see one run of the agent, event by event."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from bot.agent.calls import call_states
from bot.agent.loop.closing import answers
from bot.events import (
    AssistantMessageEvent,
    DoneEvent,
    ErrorEvent,
    Event,
    RateLimitEvent,
    RecordedEvent,
    RunStatus,
    TextChunkEvent,
    ToolResultEvent,
    ToolStartedEvent,
    UserMessageEvent,
)
from bot.frontend.showing.draft import Subject
from bot.frontend.showing.preview import Preview, Previews
from bot.frontend.showing.reconcile import Reconciler
from bot.frontend.showing.trouble import Outage
from bot.frontend.showing.typing_sign import TypingSign
from bot.monitoring import Metrics
from bot.sessions import SessionStore

ELSEWHERE = {RunStatus.DUPLICATE, RunStatus.HANDED_OVER}


class Follower:
    """Sees the events of one run, one after the other."""

    def __init__(
        self,
        session_id: str,
        channel_id: int,
        *,
        store: SessionStore,
        outage: Outage,
        previews: Previews,
        reconciler: Reconciler,
        sign: TypingSign,
        elsewhere: Callable[[str], None],
        metrics: Metrics,
    ) -> None:
        self._session_id = session_id
        self._channel_id = channel_id
        self._outage = outage
        self._store = store
        self._previews = previews
        self._reconciler = reconciler
        self._sign = sign
        self._elsewhere = elsewhere
        self._metrics = metrics
        self._asked: float | None = None  # since when an answer is waited for
        self._preview: Preview | None = None
        self._text = ""  # what came of the answer while nothing could be read

    async def see(self, event: Event) -> None:
        """Show what an event says, without waiting for Discord.

        Raises:
            StorageError: if what it takes cannot be read; a later event may be shown all the same.
        """
        match event:
            case TextChunkEvent():
                self._sign.off()
                self._note_first_text()
                self._text += event.chunk
                preview = await self._written(event.turn_id)
                text, self._text = self._text, ""
                preview.add(text)
            case RateLimitEvent():
                (await self._written(event.turn_id)).note(_note(event))
            case UserMessageEvent():
                self._asked = self._asked or time.monotonic()
                self._outage.over(self._channel_id)
                await self._show_typing()
            case RecordedEvent():
                await self._see_recorded(event)
            case ErrorEvent(turn_id=""):
                await self._previews.end(self._session_id)  # the answer begins anew later
                await self._outage.tell(self._channel_id, event.message, event.reference)
            case DoneEvent() if event.status in ELSEWHERE:
                self._elsewhere(self._session_id)
            case DoneEvent():
                self._reconciler.wake(self._session_id)
            case _:
                pass

    def leave(self) -> None:
        """Show nothing more of the run."""
        self._sign.off()

    def _note_first_text(self) -> None:
        if self._asked is not None:
            self._metrics.first_text(time.monotonic() - self._asked)
            self._asked = None

    async def _see_recorded(self, event: RecordedEvent) -> None:
        self._reconciler.wake(self._session_id)
        match event:
            case AssistantMessageEvent():
                self._preview, self._text = None, ""
            case ToolStartedEvent():
                self._sign.on()
                (await self._written(event.turn_id)).working(await self._tools(event.turn_id))
            case ToolResultEvent() if self._preview is not None:
                if event.attachments:
                    self._preview.behind()
                self._preview.working(await self._tools(event.turn_id))
            case _:
                pass

    async def _tools(self, turn_id: str) -> Sequence[str]:
        """Return the tools that are at work in a turn."""
        session = await self._store.get(self._session_id)
        states = call_states(session.turn(turn_id) if session is not None else ())
        return [each.call.tool for each in states.values() if each.started and not each.result]

    async def _show_typing(self) -> None:
        session = await self._store.get(self._session_id)
        if session is not None and not session.waits:
            self._sign.on()

    async def _written(self, turn_id: str) -> Preview:
        """Return the preview of what the model writes now."""
        preview = self._preview
        if preview is None or preview.has_ended_early or preview.subject.turn_id != turn_id:
            subject = await self._subject(turn_id)
            # Earlier turns may have been answered without being streamed: they are shown first.
            self._reconciler.wake(self._session_id)
            preview = self._preview = self._previews.of(
                subject, after=lambda: self._reconciler.caught_up(self._session_id)
            )
        return preview

    async def _subject(self, turn_id: str) -> Subject:
        session = await self._store.get(self._session_id)
        turn = session.turn(turn_id) if session is not None else ()
        asked = (event.source_id for event in turn if isinstance(event, UserMessageEvent))
        return Subject(
            session_id=self._session_id,
            turn_id=turn_id,
            name=f"m{answers(turn)}",
            reply_to=next(asked, None),
        )


def _note(event: RateLimitEvent) -> str:
    if event.retry_after <= 0:
        return "*One moment: I am answering others first.*"
    return f"*One moment: the model service asked me to wait {event.retry_after:.0f} s.*"
