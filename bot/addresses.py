"""Addresses of PostgreSQL databases: how they are written, and what may be shown of them.

libpq, which reads them, takes a password that holds a `/` or `@` for part of a host, and says so.
"""

from __future__ import annotations

import re

SCHEMES = ("postgresql://", "postgres://")
WELL_WRITTEN = (
    "must be an address like postgresql://user:password@host/database; in a password / @ # % ? "
    "are written %2F %40 %23 %25 %3F"
)

_CHARACTER = r"(?:[^\s:/?#\[\]@%,]|%[0-9A-Fa-f]{2})"
_HOST = rf"(?:\[[0-9A-Fa-f:.]+\]|{_CHARACTER}*)(?::[0-9]*)?"
_ADDRESS = re.compile(
    rf"postgres(?:ql)?://(?:(?:{_CHARACTER}|[:,])*@)?"
    rf"(?P<shown>{_HOST}(?:,{_HOST})*(?:/(?:{_CHARACTER}|[:,])*)?)(?:\?[^\s#@]*)?"
)


def is_well_written(address: str) -> bool:
    """Return whether an address can be read in one way only."""
    return _ADDRESS.fullmatch(address) is not None


def shown(address: str) -> str:
    """Return an address without its user and password; of others than those only what it is."""
    match = _ADDRESS.fullmatch(address)
    return f"postgresql://{match['shown']}" if match else "PostgreSQL"
