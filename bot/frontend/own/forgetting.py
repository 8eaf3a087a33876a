"""Forgetting what somebody said, once they have confirmed it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from enum import StrEnum
from typing import Protocol

from bot.agent import Actor, Agent
from bot.frontend.ids import PlaceKind, place_of
from bot.frontend.own.purges import Purges
from bot.frontend.showing.reconcile import Reconciler
from bot.frontend.showing.runs import Runs
from bot.frontend.tasks import Tasks
from bot.sessions import SessionStore

SHOWN_WITHIN = 5.0  # seconds that Discord has to show how turns ended, before they are erased
PURGED_WITHIN = 30.0  # seconds that somebody is let wait for it
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
    """Forgets turns in place, and lets the database's files keep nothing of them."""

    def __init__(
        self,
        *,
        agent: Agent,
        store: SessionStore,
        purges: Purges,
        forgetters: Sequence[Forgetter],
        reconciler: Reconciler,
        runs: Runs,
        tasks: Tasks,
    ) -> None:
        self._agent = agent
        self._store = store
        self._purges = purges
        self._forgetters = forgetters
        self._reconciler = reconciler
        self._runs = runs
        self._tasks = tasks

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
        refused = await self.refusal(scope, session_id, actor)
        if refused is not None:
            return refused
        await self._purges.owe()
        match scope:
            case Scope.EVERYTHING:
                await self._forget_everywhere(actor.user_id)
            case Scope.HERE if _may_forget_all(session_id, actor):
                await self._forget_all(session_id, by=actor.user_id)
            case Scope.HERE | Scope.MINE:
                await self._forget_in(session_id, actor.user_id)
                await self._agent.unquote(session_id, actor.user_id)
        purging = self._tasks.task(self._purges.purge(), name="purging")
        await asyncio.wait([purging], timeout=PURGED_WITHIN)
        gone = purging.done() and not purging.cancelled() and purging.result()
        when = "" if gone else " The last traces in my files are overwritten within the hour."
        return f"Forgotten. {STAYS}{when}"

    async def _forget_everywhere(self, user_id: str) -> None:
        done = set[str]()
        while found := [each async for each in self._written_in(user_id) if each not in done]:
            for session_id in found:
                await self._forget_in(session_id, user_id)
            done.update(found)
        for session_id in await self._store.quoting(user_id):
            await self._agent.unquote(session_id, user_id)
        for forgetter in self._forgetters:
            await forgetter.forget_user(user_id)

    async def _written_in(self, user_id: str) -> AsyncIterator[str]:
        """Give the sessions in which somebody wrote; one they write in meanwhile may be missed."""
        before = None
        while page := await self._store.written_by(user_id, limit=PAGE, before=before):
            for written in page:
                yield written.session_id
            before = page[-1].last_at

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


def _may_forget_all(session_id: str, actor: Actor) -> bool:
    """Whether somebody may let a whole conversation be forgotten, whoever wrote in it."""
    place = place_of(session_id)
    direct = place is not None and place.kind is PlaceKind.DM
    return direct or actor.moderator or actor.owner
