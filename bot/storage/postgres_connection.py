"""One PostgreSQL connection with its thread; lost, it is made again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import errors

from bot.errors import StorageError
from bot.failpoints import around
from bot.storage.connecting import AtOnce, bound, connect, join
from bot.storage.jobs import Connection, Fate, Jobs, Later
from bot.storage.migrations import migrate_postgres
from bot.storage.patience import SilenceError
from bot.storage.pipeline import Pipeline, Result
from bot.storage.worker import Worker

T = TypeVar("T")

LET_GO_SECONDS = 2
"""How long the server may take to let us go."""

_IN_THE_WAY = (errors.DeadlockDetected, errors.SerializationFailure)


class PostgresLane:
    """A way to one connection; opened once, then used from one event loop at a time."""

    answers_late = True

    def __init__(
        self, url: str, *, name: str, prepare: Callable[[Connection], None], writes: bool
    ) -> None:
        self.jobs = Jobs(lambda: self._worker.call(self._work))
        self._url = url
        self._name = name
        self._prepare = prepare
        self._writes = writes
        self._worker = Worker(f"{'writer' if writes else 'reader'} of {name}")
        self._raw: psycopg.Connection[Any] | None = None
        self._pipeline: Pipeline
        self._commit: Result | None = None

    async def open(self) -> None:
        """Open the connection.

        Raises:
            StorageError: if that cannot be done.
        """
        try:
            await self._worker.call(self._connected)
        except (psycopg.Error, StorageError) as exc:
            raise self._told(exc) from exc

    async def close(self) -> None:
        """Close the connection, after what was asked before."""
        await self._worker.call(self._leave)
        self._worker.end()

    async def run(
        self,
        function: Callable[[Connection], Later[T] | T],
        then: Callable[[T], None] | None = None,
    ) -> T:
        """Run a job, as `Jobs.run` does.

        Raises:
            StorageError: for an error of PostgreSQL; others are raised as they are.
        """
        try:
            return await self.jobs.run(function, then)
        except (psycopg.Error, StorageError) as exc:
            raise self._told(exc) from exc

    def _told(self, error: psycopg.Error | StorageError) -> StorageError:
        if isinstance(error, StorageError):
            return StorageError(f"{self._name}: {error}")
        text = " ".join(str(error).split())
        return StorageError(f"{self._name}: {text} ({error.sqlstate or type(error).__name__})")

    # -- in the connection's thread ----------------------------------------------------------------

    @property
    def connection(self) -> Connection:
        """What jobs are given."""
        return self._pipeline

    def begin(self) -> None:
        """Begin a transaction; a connection that was lost meanwhile is made again."""
        self._connected()
        self._pipeline.execute(
            "BEGIN" if self._writes else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )

    def commit(self) -> None:
        """Bring it to disk, if nothing of it fails."""
        with around("commit") if self._writes else nullcontext():
            self._commit = self._pipeline.execute("COMMIT")
            self._pipeline.sync()
            self._commit = None

    def undo(self) -> None:
        """Undo it, and raise nothing."""
        with suppress(Exception):
            self._pipeline.sync()  # what was sent meanwhile has failed with the job
        try:
            self._pipeline.execute("ROLLBACK")
            self._pipeline.sync()
        except psycopg.Error:
            self._close()

    def note(self, error: Exception) -> Fate:
        """Return what may come of the jobs: a lost connection is made again, and others wait."""
        commit, self._commit = self._commit, None
        lost = self._raw is None or self._raw.closed
        in_doubt = self._writes and commit is not None and not commit.was_passed_over
        if (lost and in_doubt) or isinstance(error, SilenceError):
            return Fate.UNKNOWN
        if lost or isinstance(error, _IN_THE_WAY):
            return Fate.AGAIN
        return Fate.ITS_OWN

    def _work(self) -> None:
        self.jobs.work(self)

    def _connected(self) -> None:
        if self._raw is None or self._raw.closed or self._pipeline.is_lost():
            self._close()
            self._raw, self._pipeline = self._connect()

    def _connect(self) -> tuple[psycopg.Connection[Any], Pipeline]:
        connection = connect(self._url)
        try:
            if self._writes:
                join(connection)
                migrate_postgres(AtOnce(connection))
            pipeline = Pipeline(connection)
            bound(pipeline)
            self._prepare(pipeline)
            pipeline.sync()
        except BaseException:
            connection.close()
            raise
        return connection, pipeline

    def _leave(self) -> None:
        """Close the connection; its locks end now, and not when the server has noticed."""
        if self._raw is not None:
            self._pipeline.patience = LET_GO_SECONDS
            with suppress(psycopg.Error):
                self._pipeline.execute("SELECT pg_advisory_unlock_all()")
                self._pipeline.sync()
        self._close()

    def _close(self) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            raw.close()
