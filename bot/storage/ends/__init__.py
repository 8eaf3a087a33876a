"""A database as one end of a move: its tables, and rows of them, in one transaction."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from bot.addresses import SCHEMES
from bot.errors import ConfigError
from bot.storage.ends.end import End, Table

__all__ = ["End", "Table", "is_same", "source", "target"]

FILE = "sqlite:///"


def source(address: str) -> AbstractContextManager[End]:
    """Open a database to be read, as it is at one moment; nothing of it is changed.

    Args:
        address: `sqlite:///relative/path`, `sqlite:////absolute/path`, or `postgresql://...`.

    Raises:
        ConfigError: if the address is neither, or another bot works with the database.
        StorageError: if it cannot be read, or another version of Parley made it.
    """
    return _kind(address).source()


def target(address: str) -> AbstractContextManager[End]:
    """Open a database to be filled; its tables are made if need be, in the same transaction.

    What is not committed in the block is undone, and so is the making of a file.

    Raises:
        ConfigError: if the address is none, or another bot works with the database.
        StorageError: if it cannot be written.
    """
    return _kind(address).target()


def is_same(one: str, other: str) -> bool:
    """Return whether two addresses are of one database.

    Raises:
        ConfigError: if one of them is none.
        StorageError: if a server cannot be asked.
    """
    mine, theirs = _kind(one), _kind(other)
    return type(mine) is type(theirs) and mine.identity() == theirs.identity()


class _Kind(Protocol):
    def source(self) -> AbstractContextManager[End]: ...

    def target(self) -> AbstractContextManager[End]: ...

    def identity(self) -> object: ...


def _kind(address: str) -> _Kind:
    if address.startswith(FILE):
        from bot.storage.ends.file import File

        return File(Path(address.removeprefix(FILE)))
    if address.startswith(SCHEMES):
        try:
            from bot.storage.ends.server import Server
        except ImportError as exc:
            raise ConfigError(f"PostgreSQL needs Parley's extra postgres ({exc}).") from exc
        return Server(address)
    raise ConfigError(f"A database is sqlite:///path or postgresql://..., not {_scheme(address)}.")


def _scheme(address: str) -> str:
    """Return what may be shown of an address that is none: it may hold a password."""
    scheme, found, _ = address.partition("://")
    return repr(scheme[:20]) if found and scheme.isalnum() else "that"
