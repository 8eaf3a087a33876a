"""What a move needs of a database, whichever engine keeps it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.storage.database import Row


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        columns: All of them, by name.
        key: Those of its primary key, in their order.
        filled: Those that the database can fill by itself, and that another engine may lack.
    """

    name: str
    columns: Sequence[str]
    key: Sequence[str]
    filled: frozenset[str] = frozenset()

    @property
    def into(self) -> str:
        """The table with its columns, as an INSERT names them."""
        return f"{self.name} ({', '.join(self.columns)})"


class End(ABC):
    """An open database in which nobody else writes, inside a transaction."""

    @abstractmethod
    def tables(self) -> Sequence[Table]:
        """Return Parley's own tables, those that others refer to before them."""

    @abstractmethod
    def rows(self, sql: str, values: Sequence[Any] = ()) -> Sequence[Row]:
        """Return the rows of a query, its parameters written `?1`, `?2`."""

    @abstractmethod
    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        """Insert rows, their values in the order of the table's columns."""

    @abstractmethod
    def commit(self) -> None:
        """Bring it to disk."""
