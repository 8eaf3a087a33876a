"""The answer as it is being written: a preview, which the log's text replaces at the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass, replace

from bot.frontend.refusals import DiscordError
from bot.frontend.shown import Button, Key, Purpose, Shown, stop_id
from bot.frontend.split import split
from bot.frontend.tasks import Tasks

logger = logging.getLogger(__name__)

Write = Callable[[str, Shown], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The model call whose text is being written."""

    session_id: str
    turn_id: str
    name: str
    reply_to: str | None


class Preview:
    """Shows one growing text: the first of it at once, then its latest state at a steady pace."""

    def __init__(
        self,
        subject: Subject,
        *,
        write: Write,
        after: Callable[[], Awaitable[None]],
        interval: float,
        tasks: Tasks,
    ) -> None:
        self.subject = subject
        self._after = after
        self._write = write
        self._interval = interval
        self._chunks: list[str] = []
        self._note = ""
        self._written: list[Shown] = []
        self._news = asyncio.Event()
        self._writing = asyncio.Lock()
        self._task = tasks.task(self._keep_writing(), name=f"preview of {subject.session_id}")

    def add(self, chunk: str) -> None:
        """Let the text grow."""
        self._chunks.append(chunk)
        self._news.set()

    def note(self, text: str) -> None:
        """Show this for as long as there is no text."""
        self._note = text
        self._news.set()

    async def close(self) -> None:
        """Write nothing any more; what is on its way has arrived when this returns."""
        async with self._writing:
            self._task.cancel()

    async def _keep_writing(self) -> None:
        await self._after()
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                async with self._writing:
                    await self._write_news()
            except DiscordError as exc:
                # The final text is shown from the log, and whoever shows it tells the trouble.
                logger.info("preview in %s ended: %s", self.subject.session_id, exc)
                return
            await asyncio.sleep(self._interval)

    async def _write_news(self) -> None:
        for number, shown in enumerate(self._shown()):
            if number >= len(self._written):
                # With its button also where more follows at once: should its id be lost with this
                # process, the button is what it is found by. The next edit takes it away.
                shown = replace(shown, buttons=_stop(shown.key))
                await self._write(self.subject.session_id, shown)
                self._written.append(shown)
            elif shown != self._written[number]:
                await self._write(self.subject.session_id, shown)
                self._written[number] = shown

    def _shown(self) -> Iterator[Shown]:
        parts = split("".join(self._chunks)) or split(self._note)
        for number, part in enumerate(parts):
            key = Key(self.subject.turn_id, self.subject.name, Purpose.ANSWER, number)
            last = number == len(parts) - 1
            yield Shown(
                key=key,
                content=part,
                buttons=_stop(key) if last else (),
                reply_to=self.subject.reply_to if number == 0 else None,
                final=False,
            )


def _stop(key: Key) -> tuple[Button, ...]:
    return (Button("Stop", stop_id(key)),)


class Previews:
    """The previews that are being written, one a session at most."""

    def __init__(self, *, write: Write, interval: float, tasks: Tasks) -> None:
        self._write = write
        self._interval = interval
        self._tasks = tasks
        self._open: dict[str, Preview] = {}

    async def of(self, subject: Subject, *, after: Callable[[], Awaitable[None]]) -> Preview:
        """Return the preview of a model call; a new one writes nothing before `after` is over."""
        preview = self._open.get(subject.session_id)
        if preview is None or preview.subject != subject:
            if preview is not None:
                await preview.close()
            preview = Preview(
                subject, write=self._write, after=after, interval=self._interval, tasks=self._tasks
            )
            self._open[subject.session_id] = preview
        return preview

    async def settle(
        self, session_id: str, *, closed: Collection[str], recorded: Collection[tuple[str, str]]
    ) -> None:
        """End the session's preview if the log has its text, or the end of its turn.

        Args:
            session_id: Whose.
            closed: Turns that have ended.
            recorded: Model calls, as turn and name, whose text is in the log.
        """
        preview = self._open.get(session_id)
        if preview is None:
            return
        subject = preview.subject
        if subject.turn_id in closed or (subject.turn_id, subject.name) in recorded:
            await self.end(session_id)

    async def close(self) -> None:
        """End all previews."""
        for session_id in list(self._open):
            await self.end(session_id)

    async def end(self, session_id: str) -> None:
        """End the session's preview, if there is one."""
        preview = self._open.get(session_id)
        if preview is not None:
            await preview.close()
            if self._open.get(session_id) is preview:
                del self._open[session_id]
