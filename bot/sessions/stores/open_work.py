"""How much is open in a whole database."""

from __future__ import annotations

import json
from dataclasses import dataclass

from bot.storage import Connection, Database, Later


@dataclass(frozen=True, slots=True)
class OpenWork:
    """Turns that have no end, and approvals that nobody has decided."""

    turns: int = 0
    approvals: int = 0


async def open_work(database: Database) -> OpenWork:
    """Count what is open, whichever process works on it."""
    return await database.read(_count)


def _count(connection: Connection) -> Later[OpenWork]:
    found = connection.execute("SELECT open_turns FROM sessions WHERE open_turns <> '[]'")

    def tell() -> OpenWork:
        turns = [turn for (text,) in found.fetchall() for turn in json.loads(text)]
        return OpenWork(len(turns), sum(len(turn["pending"]) for turn in turns))

    return Later(tell)
