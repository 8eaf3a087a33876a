"""Statements that PostgreSQL is sent without waiting for each: what came of one is heard if asked.

This is libpq's pipeline mode, by way of psycopg's `pq`: with psycopg's cursors each statement would
take Python ten times as long.
"""

from __future__ import annotations

import re
import select
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from typing import Any, Protocol

import psycopg
from psycopg import errors, pq
from psycopg.adapt import PyFormat, Transformer

from bot.storage import patience
from bot.storage.texts import kept

PREPARED = 500
"""How many statements the server is to remember; of each other one it makes a plan every time."""

_GOOD = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK, pq.ExecStatus.PIPELINE_SYNC)

Otherwise = Callable[[], Exception]


class Pipeline:
    """A connection as jobs are given it; psycopg is not to be used on it any more.

    A statement that fails is heard of when the results of one are looked at, or by `sync`; those
    after it were not run.

    Attributes:
        patience: How many seconds the server may say nothing when it is to answer.
    """

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.patience = patience.ANSWER_SECONDS
        self.values = Transformer(connection)
        self._pg = connection.pgconn
        self._ready = select.poll()
        self._names: dict[str, bytes] = {}
        self._numbers = count(1)
        self._awaited: deque[_Awaited] = deque()
        self._pg.enter_pipeline_mode()

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Result:
        """Run one statement, its parameters written as `Database` says."""
        result = Result(self)
        self._send(sql, values, result)
        return result

    def insist(self, sql: str, values: Sequence[Any], otherwise: Otherwise, /) -> None:
        """Run one statement that has to change one row; if it does not, it fails in the server."""
        self._send(_insisting(sql), values, _Expected(errors.DivisionByZero, otherwise))

    def insert(self, sql: str, values: Sequence[Any], otherwise: Otherwise, /) -> None:
        """Run one statement that inserts a row whose keys no row may have yet."""
        self._send(sql, values, _Expected(errors.UniqueViolation, otherwise))

    def is_lost(self) -> bool:
        """Return whether the server has ended the connection while nothing was asked of it."""
        self._ready.register(self._pg.socket, select.POLLIN)
        try:
            while self._ready.poll(0):
                self._pg.consume_input()
        except psycopg.OperationalError:
            return True
        return False

    def flush(self) -> None:
        """Send all, and wait for nothing."""
        self._pg.pipeline_sync()
        self._awaited.append(_Synced())
        while self._pg.flush():
            # The server may wait for us to read before it reads.
            self._wait(select.POLLIN | select.POLLOUT)

    def sync(self) -> None:
        """Wait for what came of all; raise the first error of them."""
        self.flush()
        first: Exception | None = None
        while self._awaited:
            error = self._awaited.popleft().came(self._result())
            first = first or error
        if first is not None:
            raise first

    def _send(self, sql: str, values: Sequence[Any], awaited: _Awaited) -> None:
        given = self.values.dump_sequence(kept(values), [PyFormat.TEXT] * len(values))
        name = self._names.get(sql)
        if name is None and len(self._names) < PREPARED:
            name = self._prepare(sql)
        if name is None:
            self._pg.send_query_params(numbered(sql), given)
        else:
            self._pg.send_query_prepared(name, given)
        self._awaited.append(awaited)

    def _prepare(self, sql: str) -> bytes:
        name = self._names[sql] = b"parley_%d" % next(self._numbers)
        self._pg.send_prepare(name, numbered(sql))
        self._awaited.append(_Prepared(lambda: self._names.pop(sql)))
        return name

    def _result(self) -> pq.abc.PGresult:
        """Return the next result; between those of two statements there is a `None`."""
        for _ in range(2):
            while self._pg.is_busy():
                self._wait(select.POLLIN)
            result = self._pg.get_result()
            if result is not None:
                return result
        raise psycopg.OperationalError(self._pg.get_error_message())

    def _wait(self, events: int) -> None:
        self._ready.register(self._pg.socket, events)
        if not self._ready.poll(self.patience * 1000):
            raise patience.give_up(self._pg, self.patience)
        self._pg.consume_input()


class _Awaited(Protocol):
    """Hears what came of something that was sent."""

    def came(self, result: pq.abc.PGresult) -> Exception | None:
        """Hear the result; return what is wrong with it."""
        ...


class Result:
    """What came of a statement; looked at, it is waited for."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._result: pq.abc.PGresult | None = None
        self._next = 0

    def came(self, result: pq.abc.PGresult) -> Exception | None:
        """Hear the result."""
        self._result = result
        return _error(result)

    @property
    def was_passed_over(self) -> bool:
        """Whether it is known not to have been run, since one before it failed."""
        return self._result is not None and self._result.status == pq.ExecStatus.PIPELINE_ABORTED

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""
        changed = self._known.command_tuples
        return -1 if changed is None else changed

    def fetchone(self) -> Any:
        """Return the next row, or `None`."""
        rows = self._rows(self._next, min(self._next + 1, self._known.ntuples))
        return rows[0] if rows else None

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""
        return self._rows(self._next, self._known.ntuples)

    def close(self) -> None:
        """Leave the rows that are left."""

    def _rows(self, first: int, end: int) -> list[Any]:
        values = self._pipeline.values
        values.set_pgresult(self._known)
        self._next = end
        return values.load_rows(first, end, tuple)

    @property
    def _known(self) -> pq.abc.PGresult:
        if self._result is None:
            self._pipeline.sync()
        assert self._result is not None  # noqa: S101 - else there was an error
        return self._result


class _Expected:
    def __init__(self, kind: type[Exception], otherwise: Otherwise) -> None:
        self._kind = kind
        self._otherwise = otherwise

    def came(self, result: pq.abc.PGresult) -> Exception | None:
        error = _error(result)
        return self._otherwise() if isinstance(error, self._kind) else error


class _Prepared:
    def __init__(self, failed: Callable[[], object]) -> None:
        self._failed = failed

    def came(self, result: pq.abc.PGresult) -> Exception | None:
        error = _error(result)
        if error is not None:
            self._failed()
        return error


class _Synced:
    def came(self, result: pq.abc.PGresult) -> Exception | None:
        return _error(result)


def _error(result: pq.abc.PGresult) -> Exception | None:
    if result.status in _GOOD:
        return None
    if result.status == pq.ExecStatus.PIPELINE_ABORTED:
        return errors.PipelineAborted("a statement before it failed")
    return errors.error_from_result(result)


@lru_cache(maxsize=PREPARED)
def _insisting(sql: str) -> str:
    """Return a statement that divides by zero unless it changes one row."""
    changed = f"WITH changed AS ({sql} RETURNING 1)"
    return f"{changed} SELECT 1 / (count(*) = 1)::integer FROM changed"  # noqa: S608 - only ours


@lru_cache(maxsize=1000)
def numbered(sql: str) -> bytes:
    """Return a statement with its parameters as PostgreSQL names them."""
    numbers = count(1)
    return re.sub(r"\?(\d*)", lambda m: f"${m[1] or next(numbers)}", sql).encode()
