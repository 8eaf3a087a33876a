"""Jobs on one connection, shared by many: what waits together runs together.

A job is a plain function of the connection, run in the connection's thread. Jobs that wait at the
same moment share one transaction, so that many saves cost one commit. If one of them fails, all
are undone and each is run again alone: a job must not care for being run twice, and only the one
at fault fails. Where nobody can tell whether a commit was done, none is run again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")

ATTEMPTS = 5
"""How often a job is run that other processes' jobs got in the way of."""


class Fate(Enum):
    """What may come of jobs that met an error."""

    ITS_OWN = "one of several may do better alone, a single one has failed"
    AGAIN = "the same may do better at once"
    UNKNOWN = "it may have been done, or would wait as long for as little: it is not run again"


class Cursor(Protocol):
    """What came of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""
        ...

    def fetchone(self) -> Any:
        """Return the next row, or `None`."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""
        ...

    def close(self) -> None:
        """Leave the rows that are left."""
        ...


class Statements(Protocol):
    """What runs statements.

    Parameters are written `?`, or `?1`, `?2` where one is used twice.
    """

    def execute(self, sql: str, values: Any = ..., /) -> Cursor:
        """Run one statement; it may wait until somebody looks at what came of one."""
        ...


class Connection(Statements, Protocol):
    """A database's connection, inside a transaction."""

    def insist(self, sql: str, values: Any, otherwise: Callable[[], Exception], /) -> None:
        """Run one statement that has to change one row.

        If it does not, the job fails with what `otherwise` returns: now, or after the job's end.
        """
        ...

    def insert(self, sql: str, values: Any, otherwise: Callable[[], Exception], /) -> None:
        """Run one statement that inserts a row whose keys no row may have yet.

        If one has, the job fails with what `otherwise` returns: now, or after the job's end.
        """
        ...


class Later(Generic[T]):
    """What a job returns of which it can only tell when its statements have run.

    All the jobs of a transaction run before the first of them tells, so that their statements go
    to a server together, with the commit. `tell` looks at what came of the job's statements, before
    or after that, and runs no others; in a job that writes it does not fail.
    """

    def __init__(self, tell: Callable[[], T]) -> None:
        self.tell = tell


class Transactions(Protocol):
    """A connection as far as jobs need it; all of it is called in the connection's thread.

    Attributes:
        answers_late: Whether the commit is the time to wait for what came of statements.
    """

    answers_late: bool

    @property
    def connection(self) -> Connection:
        """What jobs are given."""
        ...

    def begin(self) -> None:
        """Begin a transaction."""
        ...

    def commit(self) -> None:
        """Bring it to disk."""
        ...

    def undo(self) -> None:
        """Undo it, and raise nothing."""
        ...

    def note(self, error: Exception) -> Fate:
        """Note what went wrong; return what may come of the jobs that met it."""
        ...


class Job(Generic[T]):
    """A function to run, and what came of it."""

    def __init__(self, function: Callable[[Connection], Later[T] | T]) -> None:
        self._function = function
        self._found: Later[T] | T
        self.value: T
        self.error: Exception | None = None
        self.done = False
        self.wake: asyncio.Future[None] | None = None

    def run(self, connection: Connection) -> None:
        """Call the function."""
        self._found = self._function(connection)

    def tell(self) -> None:
        """Say what came of it."""
        self.value = self._found.tell() if isinstance(self._found, Later) else self._found


class Jobs:
    """The jobs that wait for one connection, asked for from one event loop at a time.

    Args:
        ask: Lets the connection's thread call `work`, and returns when it has.
    """

    def __init__(self, ask: Callable[[], Awaitable[object]]) -> None:
        self.transactions = 0
        self._ask = ask
        self._waiting: deque[Job[Any]] = deque()
        self._finished: deque[Job[Any]] = deque()
        self._asked = False

    async def run(
        self,
        function: Callable[[Connection], Later[T] | T],
        then: Callable[[T], None] | None = None,
    ) -> T:
        """Run a job to its end, even if the caller is cancelled meanwhile.

        The cancellation goes on afterwards. `then` hears the result in either case. What the job
        raises is raised.
        """
        job: Job[T] = Job(function)
        self._waiting.append(job)
        cancelled = await self._outcome(job)
        if job.error is None and then is not None:
            then(job.value)
        if cancelled is not None:
            raise cancelled
        if job.error is not None:
            raise job.error
        return job.value

    async def _outcome(self, job: Job[T]) -> asyncio.CancelledError | None:
        cancelled = None
        try:
            while not job.done:
                try:
                    await self._progress(job, alone=cancelled is not None)
                except asyncio.CancelledError as exc:
                    cancelled = exc
        finally:
            self._wake_finished()
        return cancelled

    async def _progress(self, job: Job[T], *, alone: bool) -> None:
        if self._asked and not alone:
            job.wake = asyncio.get_running_loop().create_future()
            await job.wake
        else:  # nobody has asked the thread yet, or we did and stopped listening
            self._asked = True
            await self._ask()

    def _wake_finished(self) -> None:
        while self._finished:
            wake = self._finished.popleft().wake
            if wake is not None and not wake.done():
                wake.set_result(None)

    # -- in the connection's thread ----------------------------------------------------------------

    def work(self, on: Transactions) -> None:
        """Run what waits; who comes later must ask again."""
        self._asked = False
        jobs = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            if jobs:
                self._settle(jobs, on)
        finally:
            for job in jobs:
                job.done = True
            self._finished.extend(jobs)

    def _settle(self, jobs: Sequence[Job[Any]], on: Transactions, attempt: int = 1) -> bool:
        """Bring jobs to their end; return whether a transaction could be begun."""
        try:
            on.begin()
        except Exception as exc:  # noqa: BLE001 - raised again for whoever asked
            on.note(exc)
            _fail(jobs, exc)
            return False
        try:
            for job in jobs:
                job.run(on.connection)
            if not on.answers_late:
                for job in jobs:
                    job.tell()
            on.commit()
        except Exception as exc:  # noqa: BLE001 - raised again for whoever asked
            fate = on.note(exc)
            on.undo()
            return self._after(exc, fate, jobs, on, attempt)
        self.transactions += 1
        if on.answers_late:
            _tell_each(jobs)
        return True

    def _after(
        self, error: Exception, fate: Fate, jobs: Sequence[Job[Any]], on: Transactions, attempt: int
    ) -> bool:
        if fate is Fate.UNKNOWN:
            _fail(jobs, error)
        elif len(jobs) > 1:
            return self._one_by_one(jobs, on)
        elif fate is Fate.AGAIN and attempt < ATTEMPTS:
            return self._settle(jobs, on, attempt + 1)
        else:
            _fail(jobs, error)
        return True

    def _one_by_one(self, jobs: Sequence[Job[Any]], on: Transactions) -> bool:
        for number, job in enumerate(jobs):
            if not self._settle([job], on):
                assert job.error is not None  # noqa: S101 - it is what failed
                _fail(jobs[number + 1 :], job.error)  # each would wait as long for as little
                return False
        return True


def _tell_each(jobs: Sequence[Job[Any]]) -> None:
    for job in jobs:
        try:
            job.tell()
        except Exception as exc:  # noqa: BLE001 - raised again for whoever asked
            job.error = exc


def _fail(jobs: Sequence[Job[Any]], error: Exception) -> None:
    for job in jobs:
        job.error = error
