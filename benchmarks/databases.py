"""The database that a benchmark's bots use."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager

from tests.crash.town import Databases, in_a_file
from tests.postgres import serving


def add_option(parser: ArgumentParser) -> None:
    """Let it be chosen."""
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")


@contextmanager
def databases(engine: str) -> Iterator[Databases]:
    """Return what makes new ones while the block lasts."""
    if engine == "sqlite":
        yield in_a_file
        return
    with serving() as server:
        yield server.settings
