"""Saying, when it is due, what somebody wanted to be said.

Once: one process at a time does it, notes before that it begins, and moves the schedule on to its
next time when it is done. What was begun by a process that ended is looked for in the place, or in
the log, before it is said again. What came due while the bot was away is said later, the latest
time only, if that is not too long ago. Whether its owner may still write there is asked when it is
due.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import discord

from bot.agent import Agent, UserMessage
from bot.errors import AccessDeniedError, StorageError, ToolError
from bot.events import Author, ErrorEvent
from bot.frontend.ids import Place, PlaceKind, place_of, source_id_of, user_of
from bot.frontend.people import People, speaker
from bot.frontend.refusals import DiscordError, RefusedError, UnavailableError, asked
from bot.frontend.rights.permissions import WRITE, may
from bot.frontend.rights.standing import is_place
from bot.frontend.shards import Alone
from bot.frontend.showing.outbox import Outbox, nonce_of
from bot.frontend.showing.runs import Runs
from bot.frontend.tasks import Tasks
from bot.frontend.view.card import person
from bot.frontend.view.shown import Key, Purpose, Shown
from bot.sessions.stores.homes import Home, HomeStore
from bot.sessions.stores.recurrence import latest_due
from bot.sessions.stores.schedules import Begun, Schedule, ScheduleStore

logger = logging.getLogger(__name__)

LOOKED_AFTER = 60.0  # seconds: the clock may be moved, and other processes schedule too
BEFORE_DUE = timedelta(minutes=1)  # clocks differ; the same words before that were another one
RETRY_AFTER = (1.0, 5.0, 25.0, 60.0)  # seconds, while Discord cannot be reached


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminding:
    """What it takes to say something.

    Attributes:
        alone: Makes the block that one of all processes is in.
        failed: Notes that the database could not be read or written; when it can, it is looked
            again.
        is_ours: Whether a session is on a shard of this process: another's is left to that.
        clock: Tells what time it is.
        window: How late something may be said.
    """

    client: discord.Client
    agent: Agent
    schedules: ScheduleStore
    homes: HomeStore
    people: People
    outbox: Outbox
    runs: Runs
    work: Tasks
    alone: Alone
    failed: Callable[[], None]
    is_ours: Callable[[str], Awaitable[bool]]
    clock: Callable[[], datetime]
    window: timedelta


class Reminders:
    """Looks what is due, whenever something is, or was scheduled."""

    def __init__(self, parts: Reminding) -> None:
        self._parts = parts
        self._woken = False
        self._closed = False
        self._busy: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def wake(self) -> None:
        """Look again soon: the bot is there, something was scheduled, or the clock was moved."""
        self._woken = True
        if not self._closed and (self._task is None or self._task.done()):
            self._task = self._parts.work.task(self._work(), name="reminders")

    def close(self) -> None:
        """Look no more; the next start does."""
        self._closed = True
        self._arm(None)

    async def _work(self) -> None:
        seconds = LOOKED_AFTER
        while self._woken:
            self._woken = False
            try:
                seconds = await self._look()
            except StorageError as exc:
                logger.warning("what is due cannot be read: %s", exc)
                self._parts.failed()
        self._arm(min(seconds, LOOKED_AFTER))

    def _arm(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if seconds is not None and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(seconds, self.wake)

    async def _look(self) -> float:
        """Begin with what is due; return in how many seconds something is again."""
        schedules, now = self._parts.schedules, self._parts.clock()
        for schedule in await schedules.due(now):
            name = schedule.schedule_id
            if name not in self._busy and await self._parts.is_ours(schedule.session_id):
                self._busy.add(name)
                self._parts.work.start(self._try(schedule), name=name)
        following = await schedules.next_at(now)
        return (following - now).total_seconds() if following else LOOKED_AFTER

    async def _try(self, schedule: Schedule) -> None:
        """Say what is due; what cannot be said now stays due, and holds up no other."""
        try:
            async with self._parts.alone(f"say {schedule.schedule_id}"):
                await self._take(schedule)
        except StorageError as exc:
            logger.warning("%s cannot be taken: %s", schedule.schedule_id, exc)
            self._parts.failed()
        except Exception:
            logger.exception("%s could not be taken", schedule.schedule_id)
        finally:
            self._busy.discard(schedule.schedule_id)

    async def _take(self, schedule: Schedule) -> None:
        schedules, now = self._parts.schedules, self._parts.clock()
        latest = latest_due(schedule.rule, ZoneInfo(schedule.zone), schedule.due_at, now)
        begun = await schedules.begin(schedule)
        if begun is Begun.OVER:
            return
        if now - latest > self._parts.window:
            logger.info("%s came due too long ago to be said", schedule.schedule_id)
        elif not await _say(self._parts, schedule, latest, before=begun is Begun.BEFORE):
            return
        await schedules.move_on(schedule, now)


async def _say(parts: Reminding, schedule: Schedule, due: datetime, *, before: bool) -> bool:
    """Say it, if its owner may; return whether that is settled, however often Discord failed."""
    place = place_of(schedule.session_id)
    for delay in (*RETRY_AFTER, None):
        try:
            author = await _writer(parts, schedule, place) if place else None
            if place is None or author is None:
                logger.info("%s is not said: its owner may not write there", schedule.schedule_id)
            elif schedule.asks:
                return await _ask(parts, schedule, author, due)
            else:
                await _post(parts, schedule, place, due, before=before)
        except (UnavailableError, ToolError) as exc:
            logger.warning("%s cannot be said: %s", schedule.schedule_id, exc)
            if delay is not None:
                await asyncio.sleep(delay)
        except (DiscordError, AccessDeniedError) as exc:
            logger.info("%s is not said: %s", schedule.schedule_id, exc)
            return True
        else:
            return True
    return False


async def _ask(parts: Reminding, schedule: Schedule, author: Author, due: datetime) -> bool:
    """Ask the agent, as who scheduled it, in its order; return whether that is on disk."""
    said = UserMessage(
        text=schedule.text,
        author=author,
        source_id=f"{schedule.schedule_id}-{due:%Y%m%dT%H%M%S}",
        notes=(f"This was scheduled: {schedule.rule}.",),
    )
    run = parts.agent.run(said, schedule.session_id, user_id=schedule.user_id)
    return not isinstance(await parts.runs.begin(schedule.session_id, run), ErrorEvent)


async def _post(
    parts: Reminding, schedule: Schedule, place: Place, due: datetime, *, before: bool
) -> None:
    """Post the text, unless it is there; sent again, it is known by its nonce."""
    since = discord.utils.time_snowflake(due - BEFORE_DUE)
    key = Key(schedule.schedule_id, f"{due:%Y%m%dT%H%M%S}", Purpose.NOTICE)
    text = f"⏰ {person(schedule.user_id)}: {schedule.text}"
    shown = Shown(key=key, content=text, asked=source_id_of(since))
    if before and await _is_there(parts.outbox, place, shown):
        return
    nonce = nonce_of(schedule.session_id, key, None)
    await parts.outbox.send(place.channel_id, shown, nonce=nonce)


async def _is_there(outbox: Outbox, place: Place, shown: Shown) -> bool:
    try:
        return bool(await outbox.find(place.channel_id, shown))
    except RefusedError:
        return False  # a place that cannot be read: better twice than never


async def _writer(parts: Reminding, schedule: Schedule, place: Place) -> Author | None:
    """Return the owner of a schedule, if both they and the bot may write in the place now.

    Raises:
        DiscordError: if Discord cannot be asked, or there is no such place or person any more.
        ToolError: if it cannot be asked who is in a thread.
    """
    client, user = parts.client, user_of(schedule.user_id) or 0
    if place.kind is PlaceKind.DM:
        someone = await asked(lambda: client.fetch_user(user))
        return speaker(someone, place) if await parts.people.may_talk(someone, None) else None
    channel: object = client.get_channel(place.channel_id)
    if channel is None:
        channel = await asked(lambda: client.fetch_channel(place.channel_id))
    if not is_place(channel):
        return None
    member = await asked(lambda: channel.guild.fetch_member(user))
    parent = channel.parent_id if isinstance(channel, discord.Thread) else channel.id
    talks = await parts.people.may_talk(member, channel.guild.id, parent)
    both = (
        talks and await may(channel, member, WRITE) and await may(channel, channel.guild.me, WRITE)
    )
    if not both:
        return None
    await parts.homes.put(schedule.session_id, Home(channel.guild.id, parent))
    return speaker(member, place)
