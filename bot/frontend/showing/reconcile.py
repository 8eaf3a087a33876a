"""Making what people see of a session equal to what its log says they should see."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain, repeat

from bot.errors import StorageError
from bot.events import RecordedEvent, utc_now
from bot.frontend.refusals import (
    ContentRefusedError,
    DiscordError,
    PlaceGoneError,
    RefusedError,
    UnavailableError,
)
from bot.frontend.showing.alone import Showing
from bot.frontend.showing.deliverer import Deliverer, Known
from bot.frontend.showing.draft import status_key
from bot.frontend.showing.preview import Previews
from bot.frontend.showing.trouble import Trouble
from bot.frontend.tasks import Tasks
from bot.frontend.view.answers import Look
from bot.frontend.view.shown import Purpose, Shown
from bot.frontend.view.view import View, view, with_reminders
from bot.sessions import SessionStore
from bot.sessions.stores.deliveries import DeliveryStore, Progress
from bot.sessions.stores.rests import Rest

logger = logging.getLogger(__name__)

PAGE = 1000
DENIED = "What I wanted to ask about there does not run"
RETRY_AFTER = (1.0, 5.0, 25.0, 60.0)  # seconds, while Discord cannot be reached


class Reconciler:
    """Reconciles sessions, each by one worker at a time, whenever something wakes it.

    Where other processes may show the same sessions, one of all does it at a time, and what another
    one runs is shown by that one.

    Attributes:
        now: Tells the time, by which reminders are due.
    """

    def __init__(
        self,
        *,
        store: SessionStore,
        deliveries: DeliveryStore,
        deliverer: Deliverer,
        previews: Previews,
        trouble: Trouble,
        expiry: Callable[[str, datetime | None], None],
        unseen: Callable[[str, str, str], None],
        look: Callable[[str], Awaitable[Look]],
        tasks: Tasks,
        showing: Showing,
        shown_by: str,
    ) -> None:
        self._store = store
        self._deliveries = deliveries
        self._deliverer = deliverer
        self._previews = previews
        self._trouble = trouble
        self._expiry = expiry
        self._unseen = unseen
        self._look = look
        self._tasks = tasks
        self._showing = showing
        self._shown_by = shown_by
        self.now: Callable[[], datetime] = utc_now
        self._hope = asyncio.Event()
        self._woken: set[str] = set()
        self._workers: dict[str, asyncio.Task[None]] = {}

    def wake(self, session_id: str) -> None:
        """Reconcile a session soon; what is recorded by now is covered."""
        self._woken.add(session_id)
        if session_id not in self._workers:
            self._workers[session_id] = self._tasks.task(
                self._work(session_id), name=f"reconcile {session_id}"
            )

    def retry(self) -> None:
        """Try again now what could not be shown: Discord, or the log, is there again."""
        self._hope.set()
        self._hope = asyncio.Event()

    async def caught_up(self, session_id: str) -> None:
        """Wait until the session is reconciled as far as it was woken."""
        while (worker := self._workers.get(session_id)) is not None:
            await asyncio.wait([worker])

    async def _work(self, session_id: str) -> None:
        try:
            while session_id in self._woken:
                self._woken.discard(session_id)
                await self._try(session_id)
        finally:
            del self._workers[session_id]

    async def _try(self, session_id: str) -> None:
        for delay in chain(RETRY_AFTER, repeat(RETRY_AFTER[-1])):
            try:
                if not await self._pass(session_id):
                    # An archived thread refuses edits, and is opened by the next new message.
                    await self._pass(session_id)
            except (UnavailableError, StorageError) as exc:
                logger.warning("%s is not reconciled: %s", session_id, exc)
                await self._let_others_show(session_id)
                await self._pause(delay)
            except DiscordError as exc:
                await self._trouble.tell(session_id, exc)
                return
            else:
                self._trouble.over(session_id)
                return

    async def _let_others_show(self, session_id: str) -> None:
        """Keep no preview while we cannot show a session; the next one waits until we can."""
        if self._showing.is_shared:
            await self._previews.end(session_id)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hope.wait()

    async def _pass(self, session_id: str) -> bool:
        """Make one pass, unless another process shows the session; return as `_reconcile` does."""
        if not self._showing.is_shared:
            return await self._reconcile(session_id)
        await self._end_left_preview(session_id)
        if not await self._showing.is_elsewhere(session_id):
            async with self._showing.of(session_id):
                if not await self._showing.is_elsewhere(session_id):
                    return await self._reconcile(session_id)
        await self._previews.end(session_id)
        return True

    async def _end_left_preview(self, session_id: str) -> None:
        """End the preview of what nobody here runs: it keeps others from showing the session."""
        if self._previews.has(session_id) and not await self._showing.is_here(session_id):
            await self._previews.end(session_id)

    async def _reconcile(self, session_id: str) -> bool:
        """Make one pass; return whether everything is shown as it should be."""
        before = await self._deliveries.progress(session_id)
        seen = view(await self._log(session_id, before.seq), await self._look(session_id))
        seen, wake_at = with_reminders(seen, self.now())
        self._expiry(session_id, wake_at)
        still = seen.closed.keys() | seen.waiting.keys()
        await self._previews.settle(session_id, closed=still, recorded=_recorded(seen))
        turns = seen.closed.keys() | {shown.key.turn_id for shown in seen.shown}
        known = await self._deliverer.known(session_id, turns)
        try:
            async with self._previews.giving_way(session_id, _with_new_files(seen, known)):
                known = await self._deliverer.known(session_id, turns)  # a status line too
                complete = await self._show(session_id, seen, known)
        except PlaceGoneError as exc:
            logger.info("the place of %s was deleted: nobody can see it any more", session_id)
            await self._deny_unseen(session_id, seen, exc)
            complete, wake_at = True, None
        except ContentRefusedError as exc:
            await self._deny_unseen(session_id, seen, exc)
            complete = False
        except RefusedError as exc:
            if await self._deny_unseen(session_id, seen, exc):
                raise RefusedError(f"{exc}. {DENIED}", exc.code) from exc
            raise
        if complete:
            await self._note(session_id, before, seen, wake_at)
        return complete

    async def _note(
        self, session_id: str, before: Progress, seen: View, wake_at: datetime | None
    ) -> None:
        """Note how far the session is shown, and until when that is all, if it waits.

        Where it is to be shown otherwise by now, it is reconciled once more.
        """
        rest = Rest(before.version, self._shown_by, wake_at) if wake_at else None
        if seen.settled_to <= before.seq and rest in (None, before.rest):
            return
        settled_to = seen.settled_to
        if not await self._deliveries.set_delivered_to(session_id, settled_to, rest, since=before):
            self.wake(session_id)

    async def _deny_unseen(self, session_id: str, seen: View, why: DiscordError) -> bool:
        """Let the calls be denied that nobody can be asked about; return whether there are any."""
        cards = [shown.key for shown in seen.shown if shown.asks]
        known = await self._deliverer.known(session_id, {key.turn_id for key in cards})
        visible = {key for key, delivery in known.items() if delivery.message_id is not None}
        unseen = [key for key in cards if key not in visible]
        for key in unseen:
            self._unseen(session_id, key.subject, f"nobody could be asked: {why}")
        return bool(unseen)

    async def _log(self, session_id: str, start: int) -> Sequence[RecordedEvent]:
        events: list[RecordedEvent] = []
        while True:
            page = await self._store.read_log(session_id, after=start, limit=PAGE)
            events += page
            if len(page) < PAGE:
                return events
            start = page[-1].seq

    async def _show(self, session_id: str, seen: View, known: Known) -> bool:
        """Show everything in its order; return whether nothing was left out."""
        complete = True
        for shown in seen.shown:
            complete &= await self._show_one(session_id, shown, known)
        await self._remove_previews(seen, known)
        return complete

    async def _remove_previews(self, seen: View, known: Known) -> None:
        """Take away what was previewed of turns that have ended, and was never recorded.

        The status line of a turn that waits goes too.
        """
        wanted = {shown.key for shown in seen.shown}
        for key, delivery in list(known.items()):
            if key.turn_id in seen.closed and key not in wanted and not delivery.final:
                await self._deliverer.remove(delivery, asked=seen.closed[key.turn_id])
            elif key.turn_id in seen.waiting and key == status_key(key.turn_id):
                await self._deliverer.remove(delivery, asked=seen.waiting[key.turn_id])

    async def _show_one(self, session_id: str, shown: Shown, known: Known) -> bool:
        try:
            await self._deliverer.show(session_id, shown, known)
        except RefusedError as exc:
            delivery = known.get(shown.key)
            if delivery is None or delivery.message_id is None:
                raise
            # An edit that is refused, of an old message for example, holds up nothing else.
            logger.warning("a message in %s could not be changed: %s", session_id, exc)
            return False
        return True


def _recorded(seen: View) -> set[tuple[str, str]]:
    answers = (each.key for each in seen.shown if each.key.purpose is Purpose.ANSWER)
    return {(key.turn_id, key.subject) for key in answers}


def _with_new_files(seen: View, known: Known) -> set[str]:
    """Return the turns of which files are to be shown that were not yet."""
    files = (each.key for each in seen.shown if each.key.purpose is Purpose.FILES)
    return {key.turn_id for key in files if key not in known or known[key].message_id is None}
