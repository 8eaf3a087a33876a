"""A PostgreSQL database: one connection that writes, one that reads, one that hears of others."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from bot.addresses import shown
from bot.errors import ConfigError, StorageError
from bot.storage.database import Database
from bot.storage.jobs import Connection, Later

if TYPE_CHECKING:
    from bot.storage.hearing import Ears
    from bot.storage.postgres_connection import PostgresLane

logger = logging.getLogger(__name__)

T = TypeVar("T")

Prepare = Callable[[Connection], None]

THERE_AGAIN = 1.0
"""Seconds after which it is looked again whether a server is there."""

ALONE_AGAIN = 0.05
"""Seconds after which a lock that another process holds is tried again."""


class PostgresDatabase(Database):
    """A database of a PostgreSQL server, 13 or newer; its tables are made when first used.

    Whoever stands between must leave each connection its server process (PgBouncer: session
    pooling): a lease lives as long as the connection that writes.

    Attributes:
        address: The whole of it, which may hold a password.

    Args:
        url: As libpq takes it, for example `postgresql://user:password@host/database`.
        prepare: Called with each new connection that writes, in its thread.
    """

    def __init__(self, url: str, *, prepare: Prepare = lambda connection: None) -> None:
        self.name = shown(url)
        self.address = url
        self._prepare = prepare
        self._lanes: tuple[PostgresLane, PostgresLane] | None = None
        self._ears: Ears | None = None
        self._opening: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    async def write(
        self, job: Callable[[Connection], Later[T] | T], then: Callable[[T], None] | None = None
    ) -> T:
        """Run a job that writes."""
        with self._timed("write"):
            writer, _ = self._lanes or await self._open()
            return await writer.run(job, then)

    async def read(self, job: Callable[[Connection], Later[T] | T]) -> T:
        """Run a job that reads."""
        with self._timed("read"):
            _, reader = self._lanes or await self._open()
            return await reader.run(job)

    async def open(self) -> None:
        """Open the database now."""
        if self._lanes is None:
            await self._open()

    async def wait(self, seconds: float) -> None:
        """Wait for a server that is away or not ready yet; what else is wrong, `open` tells."""
        why = await self._absence()
        if not why:
            return
        logger.warning("%s is waited for, up to %d seconds: %s", self.name, seconds, why)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and await self._absence():  # noqa: ASYNC110 - elsewhere
            await asyncio.sleep(THERE_AGAIN)

    async def _absence(self) -> str:
        try:
            from bot.storage.connecting import absence  # psycopg takes a while
        except ImportError:
            return ""
        return await asyncio.to_thread(absence, self.address)

    async def close(self) -> None:
        """Close the database, after what was asked before."""
        lanes, self._lanes = self._lanes, None
        for lane in reversed(lanes or ()):
            await lane.close()
        if self._ears is not None:
            await self._ears.close()

    @contextlib.asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[None]:
        """Be the only one, in all processes, who does what has this name."""
        async with self._alone_here(name):
            lock = _Lock(name)
            try:
                while not await self.write(lock.take):  # noqa: ASYNC110 - by another process
                    await asyncio.sleep(ALONE_AGAIN)
                yield
            except BaseException:
                await self.write(lock.give_back)
                raise
            if not await self.write(lock.give_back):
                raise StorageError(f"{self.name}: the lock of {name!r} was lost")

    async def at_work(self) -> frozenset[int]:
        """Return the server's numbers of the connections that write."""
        from bot.storage.connecting import AT_WORK  # psycopg takes a while

        return frozenset(number for (number,) in await self.fetch(_AT_WORK, (AT_WORK,)))

    @contextlib.contextmanager
    def hearing(self, name: str) -> Iterator[asyncio.Event]:
        """Give an event that is set when another process says this name."""
        from bot.storage.hearing import Ears  # psycopg takes a while, but has been used before

        self._ears = self._ears or Ears(self.address)
        with self._ears.hearing(name) as event:
            yield event

    async def purge(self) -> None:
        """Do nothing: the server's autovacuum frees the space, and it is overwritten in time."""

    @property
    def transactions(self) -> int:
        """How many transactions of writing were committed since it was opened."""
        return self._lanes[0].jobs.transactions if self._lanes else 0

    async def _open(self) -> tuple[PostgresLane, PostgresLane]:
        async with self._lock():
            if self._lanes is None:
                self._lanes = await self._connect()
            return self._lanes

    async def _connect(self) -> tuple[PostgresLane, PostgresLane]:
        made = await asyncio.to_thread(self._lane, True), await asyncio.to_thread(self._lane, False)
        try:
            for lane in made:
                await lane.open()
        except BaseException:
            for lane in made:
                with contextlib.suppress(Exception):
                    await lane.close()
            raise
        return made

    def _lane(self, writes: bool) -> PostgresLane:
        try:
            from bot.storage.postgres_connection import PostgresLane  # psycopg takes a while
        except ImportError as exc:
            raise ConfigError(f"PostgreSQL needs Parley's extra postgres ({exc}).") from exc
        prepare = self._prepare if writes else lambda connection: None
        return PostgresLane(self.address, name=self.name, prepare=prepare, writes=writes)

    def _lock(self) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        if self._opening is None or self._opening[0] is not loop:
            self._opening = loop, asyncio.Lock()
        return self._opening[1]


_AT_WORK = """
    SELECT pid FROM pg_locks
    WHERE locktype = 'advisory' AND mode = 'ShareLock' AND objsubid = 1 AND granted
      AND classid::bigint = (?1::bigint >> 32) & 4294967295
      AND objid::bigint = ?1::bigint & 4294967295
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""

_TAKE = """
    SELECT pg_backend_pid(), CASE WHEN pg_backend_pid() = ?1 THEN true
                             ELSE pg_try_advisory_lock(hashtextextended(?2, 0)) END"""

_GIVE_BACK = "SELECT pg_advisory_unlock(hashtextextended(?1, 0))"
_GIVE_BACK_OF = f"{_GIVE_BACK} WHERE pg_backend_pid() = ?2"  # of a connection that is still there


class _Lock:
    """A lock of a name; once it is taken, a job that is run again does not take it twice.

    What a statement did to it stays when its transaction is undone. That may happen, for what
    another job did, before we hear whether it was taken: then it is given back first.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._process = 0
        self._heard = True

    def take(self, connection: Connection) -> bool:
        if not self._heard:
            connection.execute(_GIVE_BACK, (self._name,)).close()
        self._heard = False
        process, taken = connection.execute(_TAKE, (self._process, self._name)).fetchone()
        self._heard = True
        if taken:
            self._process = process
        return bool(taken)

    def give_back(self, connection: Connection) -> Later[bool] | bool:
        """Give it back; tell whether it was ours until now."""
        given = connection.execute(_GIVE_BACK_OF, (self._name, self._process))
        return Later(lambda: given.rowcount == 1)
