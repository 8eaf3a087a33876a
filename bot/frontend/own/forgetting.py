"""Forgetting what somebody said, once they have confirmed it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from bot.agent import Actor, Agent
from bot.errors import StorageError
from bot.events import new_id, utc_now
from bot.frontend.ids import PlaceKind, place_of
from bot.frontend.showing.reconcile import Reconciler
from bot.frontend.showing.runs import Runs
from bot.frontend.tasks import Tasks
from bot.sessions import SessionStore
from bot.sessions.marks import MarkStore

logger = logging.getLogger(__name__)

PURGE_DUE = "purge-due"
SHOWN_WITHIN = 5.0  # seconds that Discord has to show how turns ended, before they are erased
PURGED_WITHIN = 30.0  # seconds that somebody is let wait for it
LONG = 1.0  # seconds of a purge from which on it is not made again for a while
RESTS = 20  # times as long, at the least
PAGE = 100

NOTHING = "There is nothing of yours that I could forget here."
NOT_ALL = (
    "Others wrote here too: only people with Manage Server may let me forget the whole "
    "conversation. You can let me forget your own messages."
)
STAYS = "What is shown in Discord stays there: delete it there."


class Scope(StrEnum):
    """What is to be forgotten."""

    MINE = "mine"
    HERE = "here"
    EVERYTHING = "everything"


QUESTIONS = {
    Scope.MINE: "your messages here, with all that I answered to them, and with messages of "
    "others that I answered together with yours",
    Scope.HERE: "all of this conversation, whoever wrote it",
    Scope.EVERYTHING: "all your messages wherever you wrote to me, with my answers, and whatever "
    "else I keep under your name",
}


class Forgetter(Protocol):
    """A store that keeps something under people's ids."""

    async def forget_user(self, user_id: str) -> None:
        """Forget what is kept of somebody."""
        ...


class Forgetting:
    """Forgets turns in place, and lets the database's files keep nothing of them.

    Attributes:
        now: Tells the time, by which purges are due.
    """

    def __init__(
        self,
        *,
        agent: Agent,
        store: SessionStore,
        marks: MarkStore,
        forgetters: Sequence[Forgetter],
        reconciler: Reconciler,
        runs: Runs,
        tasks: Tasks,
    ) -> None:
        self._agent = agent
        self._store = store
        self._marks = marks
        self._forgetters = forgetters
        self._reconciler = reconciler
        self._runs = runs
        self._tasks = tasks
        self._purging = asyncio.Lock()
        self._rests_until = 0.0
        self.now: Callable[[], datetime] = utc_now

    async def refusal(self, scope: Scope, session_id: str, actor: Actor) -> str | None:
        """Return why somebody may not let this be forgotten, `None` if they may."""
        if scope is Scope.EVERYTHING:
            return None
        authors = await self._store.authors(session_id)
        if scope is Scope.MINE or not authors:
            theirs = actor.user_id in authors or await self._is_quoted(session_id, actor.user_id)
            return None if theirs else NOTHING
        alone = authors.keys() <= {actor.user_id}
        return None if alone or _may_forget_all(session_id, actor) else NOT_ALL

    async def _is_quoted(self, session_id: str, user_id: str) -> bool:
        return session_id in await self._store.quoting(user_id)

    async def forget(self, scope: Scope, session_id: str, actor: Actor) -> str:
        """Forget it, if they may; return what to say."""
        forgetting = self._forget(scope, session_id, actor)
        return await self._tasks.task(forgetting, name=f"forgetting in {session_id}")

    async def _forget(self, scope: Scope, session_id: str, actor: Actor) -> str:
        refused = await self.refusal(scope, session_id, actor)
        if refused is not None:
            return refused
        await self._marks.set(PURGE_DUE, _due(self.now()))
        match scope:
            case Scope.EVERYTHING:
                await self._forget_everywhere(actor.user_id)
            case Scope.HERE if _may_forget_all(session_id, actor):
                await self._forget_all(session_id, by=actor.user_id)
            case Scope.HERE | Scope.MINE:
                await self._forget_in(session_id, actor.user_id)
                await self._agent.unquote(session_id, actor.user_id)
        purging = self._tasks.task(self.purge(), name="purging")
        await asyncio.wait([purging], timeout=PURGED_WITHIN)
        gone = purging.done() and not purging.cancelled() and purging.result()
        when = "" if gone else " The last traces in my files are overwritten within the hour."
        return f"Forgotten. {STAYS}{when}"

    async def _forget_everywhere(self, user_id: str) -> None:
        before = None
        while page := await self._store.written_by(user_id, limit=PAGE, before=before):
            for written in page:
                await self._forget_in(written.session_id, user_id)
            before = page[-1].last_at
        for session_id in await self._store.quoting(user_id):
            await self._agent.unquote(session_id, user_id)
        for forgetter in self._forgetters:
            await forgetter.forget_user(user_id)

    async def _forget_in(self, session_id: str, user_id: str) -> None:
        """Forget somebody's turns; where nobody else wrote, all there is."""
        turns = await self._store.turns_of(session_id, user_id)
        async with self._ended(session_id, turns, by=user_id):
            await self._agent.forget(session_id, user_id)

    async def _forget_all(self, session_id: str, *, by: str) -> None:
        """Forget all there is, whoever wrote it."""
        async with self._ended(session_id, None, by=by):
            await self._agent.erase(session_id, None, by=by)

    @asynccontextmanager
    async def _ended(
        self, session_id: str, turns: Collection[str] | None, *, by: str
    ) -> AsyncIterator[None]:
        """End turns, and show that, before they are erased; what waits behind them goes on then."""
        ended = await self._agent.end(session_id, turns, by=by)
        if not ended or place_of(session_id) is None:
            yield
            return
        try:
            await self._show(session_id)
            yield
        finally:
            self._runs.start(session_id, self._agent.resume(session_id))

    async def _show(self, session_id: str) -> None:
        self._reconciler.wake(session_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(SHOWN_WITHIN):
                await self._reconciler.caught_up(session_id)

    async def purge(self) -> bool:
        """Let the database's files keep nothing of what is forgotten; return whether they do.

        If that cannot be it is done the next time somebody looks.

        After one that took long it is left for later: all writes wait for it, and whoever wrote and
        forgot again and again would stop everybody.
        """
        due = _due(self.now())
        async with self._purging:
            with _or_later():
                # One that was at work while this was being forgotten may have taken the mark away.
                await self._marks.set(PURGE_DUE, due)
                if time.monotonic() >= self._rests_until:
                    await self._purge(due)
                    return True
        return False

    async def _purge(self, due: str) -> None:
        began = time.monotonic()
        await self._store.purge()
        ended = time.monotonic()
        if ended - began >= LONG:
            self._rests_until = ended + RESTS * (ended - began)
        await self._marks.replace(PURGE_DUE, due, "")  # unless another is due since

    async def purge_if_due(self) -> None:
        """Do it where it could not be done before, or a process ended before it was."""
        due = await self._marks.get(PURGE_DUE)
        at = _time_of(due)
        if due and at and at <= self.now():
            async with self._purging:
                with _or_later():
                    await self._purge(due)

    async def purge_within_a_day(self) -> None:
        """Let it be done with what else is deleted until then: all writes wait for it.

        It is told before something is deleted. A purge that is at work then does not count.
        """
        latest, noted = self.now() + timedelta(days=1), False
        while not noted:
            due = await self._marks.get(PURGE_DUE)
            at = min(latest, _time_of(due) or latest)
            noted = await self._marks.replace(PURGE_DUE, due, _due(at))


@contextmanager
def _or_later() -> Iterator[None]:
    """Leave what cannot be purged now to whoever looks next."""
    try:
        yield
    except StorageError as exc:
        logger.warning("what was forgotten is purged later: %s", exc)


def _may_forget_all(session_id: str, actor: Actor) -> bool:
    """Whether somebody may let a whole conversation be forgotten, whoever wrote in it."""
    place = place_of(session_id)
    direct = place is not None and place.kind is PlaceKind.DM
    return direct or actor.moderator or actor.owner


def _due(at: datetime) -> str:
    """Return a mark that no other is equal to."""
    return f"{at.isoformat()} {new_id('purge')}"


def _time_of(mark: str | None) -> datetime | None:
    """Return when a purge is due, `None` for never."""
    at, _, _ = (mark or "").partition(" ")
    return datetime.fromisoformat(at) if at else None
