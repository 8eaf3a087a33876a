"""The answer as it is being written: a preview, which the log's text replaces at the end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager

from bot.errors import StorageError
from bot.frontend.ids import place_of
from bot.frontend.refusals import DiscordError, UnavailableError
from bot.frontend.showing.alone import Showing
from bot.frontend.showing.draft import Draft, Due, Subject, using
from bot.frontend.showing.pacing import Pacing
from bot.frontend.tasks import Tasks
from bot.frontend.view.shown import Shown
from bot.monitoring import Metrics

logger = logging.getLogger(__name__)

Write = Callable[[str, Shown], Awaitable[None]]
Wait = Callable[[], Awaitable[None]]
QUICK = 0.5  # seconds: a tool that takes no longer is not told of


class Preview:
    """Shows one growing text: the first of it at once, then its latest state when it may."""

    def __init__(
        self,
        subject: Subject,
        *,
        write: Write,
        after: Wait,
        pacing: Pacing,
        tasks: Tasks,
        quick: float,
        showing: Showing,
        metrics: Metrics,
    ) -> None:
        place = place_of(subject.session_id)
        self._channel_id = place.channel_id if place is not None else 0
        self._draft = Draft(subject)
        self._after = after
        self._write = write
        self._pacing = pacing
        self._quick = quick
        self._showing = showing
        self._metrics = metrics
        self._unseen: float | None = None  # since when there is text that is not on the screen
        self._tools: Sequence[str] = ()
        self._timer: asyncio.TimerHandle | None = None
        self._news = asyncio.Event()
        self._writing = asyncio.Lock()
        self._begun = ""  # the model call of which the first text was written, or tried
        self._behind = False
        self._closed = False
        self._task = tasks.task(self._keep_writing(), name=f"preview of {subject.session_id}")

    @property
    def subject(self) -> Subject:
        """What is being written."""
        return self._draft.subject

    @property
    def has_ended_early(self) -> bool:
        """Whether it has ended before there was a text, as when its turn began to wait."""
        return self._closed and not self._draft.has_text

    def add(self, chunk: str) -> None:
        """Let the text grow."""
        self._draft.add(chunk)
        if self._unseen is None:
            self._unseen = time.monotonic()
        self._news.set()

    def note(self, text: str) -> None:
        """Show this for as long as there is no text."""
        self._draft.say(text)
        self._news.set()

    def working(self, tools: Sequence[str]) -> None:
        """Tell which tools are at work, if that takes a while; the line stays until the text."""
        self._tools = tools
        if not tools and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        elif tools and self._draft.says_something:
            self._tell_tools()
        elif tools and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._quick, self._tell_tools)

    def _tell_tools(self) -> None:
        self._timer = None
        self.note(using(self._tools))

    def behind(self) -> None:
        """Begin no text before what was recorded by now is shown."""
        self._behind = True

    @asynccontextmanager
    async def giving_way(self) -> AsyncIterator[None]:
        """Write nothing while the block lasts, in which the status line is taken away."""
        async with self._writing:
            yield
            self._draft.gave_way()

    def goes_on(self, subject: Subject) -> bool:
        """Whether this shows a subject too; also the next call, if this one has no text."""
        if self._closed or self.subject == subject:
            return not self._closed
        busy = self._writing.locked() or self._task.done()
        return not busy and self._draft.goes_on(subject)

    def stop(self) -> None:
        """Begin to write nothing any more."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if not self._writing.locked():
            self._task.cancel()

    async def close(self) -> None:
        """Write nothing any more; what is on its way has arrived when this returns."""
        self.stop()
        async with self._writing:
            self._task.cancel()

    async def _keep_writing(self) -> None:
        await self._after()
        try:
            async with self._showing.of(self.subject.session_id):
                await self._write_always()
        except StorageError as exc:
            logger.info("preview in %s ended: %s", self.subject.session_id, exc)

    async def _write_always(self) -> None:
        while not self._closed:
            await self._news.wait()
            self._news.clear()
            try:
                while not self._closed and (due := self._draft.due()) is not None:
                    await self._write_in_turn(due)
            except UnavailableError as exc:
                logger.info("preview in %s waits: %s", self.subject.session_id, exc)
            except DiscordError as exc:
                # The final text is shown from the log, and whoever shows it tells the trouble.
                logger.info("preview in %s ended: %s", self.subject.session_id, exc)
                return

    async def _write_in_turn(self, due: Due) -> None:
        if due.begins and self._behind:
            self._behind = False
            await self._after()
        if due.begins and self._begun != self.subject.name:
            self._begun = self.subject.name
            await self._pacing.jump_the_line()
            await self._write_latest(due)
        else:
            async with self._pacing.turn(self._channel_id, due.kind):
                await self._write_latest(due)

    async def _write_latest(self, expected: Due) -> None:
        async with self._writing:
            due = None if self._closed else self._draft.due()
            if due is not None and due.kind is expected.kind:
                since, self._unseen = self._unseen, None
                await self._write(self.subject.session_id, due.shown)
                self._draft.wrote(due.shown)
                if since is not None:
                    self._metrics.edited(time.monotonic() - since)


class Previews:
    """The previews that are being written, one a session at most."""

    def __init__(
        self,
        *,
        write: Write,
        pacing: Pacing,
        tasks: Tasks,
        quick: float = QUICK,
        showing: Showing | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._write = write
        self._pacing = pacing
        self._tasks = tasks
        self._quick = quick
        self._showing = showing or Showing()
        self._metrics = metrics or Metrics()
        self._open: dict[str, Preview] = {}
        self._closing: dict[str, list[Preview]] = {}

    def of(self, subject: Subject, *, after: Wait) -> Preview:
        """Return the preview of a model call; a new one writes nothing before `after` is over."""
        session_id = subject.session_id
        preview = self._open.get(session_id)
        if preview is not None and preview.goes_on(subject):
            return preview
        if preview is not None:
            preview.stop()
            self._closing.setdefault(session_id, []).append(preview)

        async def alone() -> None:
            await self._close_earlier(session_id)
            await after()

        self._open[session_id] = new = Preview(
            subject,
            write=self._write,
            after=alone,
            pacing=self._pacing,
            tasks=self._tasks,
            quick=self._quick,
            showing=self._showing,
            metrics=self._metrics,
        )
        return new

    def has(self, session_id: str) -> bool:
        """Whether anything of a session is being previewed, or may still be on its way."""
        return session_id in self._open or session_id in self._closing

    async def settle(
        self, session_id: str, *, closed: Collection[str], recorded: Collection[tuple[str, str]]
    ) -> None:
        """End the session's preview if the log has its text, or its turn has ended or waits.

        Args:
            session_id: Whose.
            closed: Turns that have ended, or wait.
            recorded: Model calls, as turn and name, whose text is in the log.
        """
        await self._close_earlier(session_id)
        preview = self._open.get(session_id)
        if preview is None:
            return
        subject = preview.subject
        if subject.turn_id in closed or (subject.turn_id, subject.name) in recorded:
            await self.end(session_id)

    @asynccontextmanager
    async def giving_way(self, session_id: str, turn_ids: Collection[str]) -> AsyncIterator[None]:
        """Let messages of these turns be shown before the text that is written next."""
        preview = self._open.get(session_id)
        if preview is None or preview.subject.turn_id not in turn_ids:
            yield
            return
        async with preview.giving_way():
            yield

    async def close(self) -> None:
        """End all previews."""
        for session_id in list(self._open):
            await self.end(session_id)

    async def end(self, session_id: str) -> None:
        """End the session's preview, if there is one, and what is left of those before it."""
        await self._close_earlier(session_id)
        preview = self._open.get(session_id)
        if preview is not None:
            await preview.close()
            if self._open.get(session_id) is preview:
                del self._open[session_id]

    async def _close_earlier(self, session_id: str) -> None:
        while closing := self._closing.get(session_id):
            earliest = closing[0]
            await earliest.close()
            if earliest in closing:  # somebody else may have waited for it too
                closing.remove(earliest)
        self._closing.pop(session_id, None)
