"""How long PostgreSQL may say nothing: a server that is frozen keeps its connections."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from psycopg import pq

T = TypeVar("T")

ANSWER_SECONDS = 60.0
"""How long nothing may come while an answer is waited for; then the connection is given up."""
STATEMENT_SECONDS = 50
"""How long a statement may take until the server, if it is there, gives it up and says so."""
LONG_SECONDS = 3600.0
"""How long that takes which nobody waits for in Discord: migrations, moving to another database."""


class SilenceError(psycopg.OperationalError):
    """The server did not answer; nobody knows what it did."""


def give_up(connection: pq.abc.PGconn, seconds: float) -> SilenceError:
    """Close a connection, whose next answer nobody would know to what; return what to raise."""
    connection.finish()
    return SilenceError(f"the server did not answer for {seconds:g} seconds")


class PatientConnection(psycopg.Connection[Any]):
    """A connection that waits for so many seconds for each answer."""

    patience: float | None = None

    def wait(self, generator: Any, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        """Wait for an answer; psycopg 3.2 has one option less than 3.3."""
        seconds = ANSWER_SECONDS if self.patience is None else self.patience
        return super().wait(_limited(generator, self.pgconn, seconds), *args, **options)


class PatientAsyncConnection(psycopg.AsyncConnection[Any]):
    """The same for an event loop."""

    async def wait(  # type: ignore[override]
        self, generator: Any, *args: Any, **options: Any
    ) -> Any:
        """Wait for an answer."""
        limited = _limited(generator, self.pgconn, ANSWER_SECONDS)
        return await super().wait(limited, *args, **options)


def _limited(
    generator: Generator[Any, Any, T], connection: pq.abc.PGconn, seconds: float
) -> Generator[Any, Any, T]:
    """Do what psycopg's generator does, which is told at least ten times a second of no answer."""
    deadline = time.monotonic() + seconds
    try:
        wanted = next(generator)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > deadline:
                raise give_up(connection, seconds)
            wanted = generator.send(ready)
    except StopIteration as ended:
        found: T = ended.value
        return found
