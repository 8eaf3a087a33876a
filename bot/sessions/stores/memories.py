"""What is remembered of people across sessions: each person's own, and nobody else's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count

from bot.errors import NoRoomError
from bot.events import new_id, utc_now
from bot.sessions.stores.words import words

MOST = 200
"""Memories of one person."""
LONGEST = 300
"""Characters of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Something remembered about a person."""

    memory_id: str
    text: str
    at: datetime


class MemoryManager(ABC):
    """Where memories live. Every method is about one person, and shows nothing of another."""

    @abstractmethod
    async def remember(self, user_id: str, text: str) -> Memory:
        """Keep a text about somebody; one that is kept already is returned as it is.

        Raises:
            NoRoomError: if they have as many as one may.
            ValueError: if the text is blank or too long.
        """

    @abstractmethod
    async def recall(self, user_id: str, query: str, limit: int = 5) -> Sequence[Memory]:
        """Return what has words in common with a query, the best first."""

    @abstractmethod
    async def list(self, user_id: str) -> Sequence[Memory]:
        """Return all, the latest first."""

    @abstractmethod
    async def forget(self, user_id: str, memory_id: str) -> bool:
        """Forget one, also where it was recalled; return whether there was one."""

    @abstractmethod
    async def forget_user(self, user_id: str) -> None:
        """Forget all."""


def checked(text: str) -> str:
    """Return a text as it is kept: on one line.

    Raises:
        ValueError: if it is blank or too long.
    """
    line = " ".join(text.split())
    if not line or len(line) > LONGEST:
        raise ValueError(f"a memory has 1 to {LONGEST} characters")
    return line


def new_memory(text: str) -> Memory:
    """Return a memory that is made now; its text has been checked."""
    return Memory(memory_id=new_id("memory"), text=text, at=utc_now())


def full() -> NoRoomError:
    """Return the error for somebody who has as many as one may."""
    return NoRoomError(f"{MOST} things are remembered already, which is as many as may be")


class InMemoryMemoryManager(MemoryManager):
    """Keeps memories for as long as it lives."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, tuple[int, Memory]]] = {}
        self._numbers = count()

    async def remember(self, user_id: str, text: str) -> Memory:
        """Keep a text about somebody."""
        line = checked(text)
        kept = self._kept.setdefault(user_id, {})
        for _, memory in kept.values():
            if memory.text == line:
                return memory
        if len(kept) >= MOST:
            raise full()
        made = new_memory(line)
        kept[made.memory_id] = next(self._numbers), made
        return made

    async def recall(self, user_id: str, query: str, limit: int = 5) -> Sequence[Memory]:
        """Return what has words in common with a query."""
        wanted = set(words(query))
        kept = await self.list(user_id)
        scored = [(len(wanted & set(words(memory.text))), memory) for memory in kept]
        scored.sort(key=lambda each: -each[0])
        return [memory for score, memory in scored[:limit] if score]

    async def list(self, user_id: str) -> Sequence[Memory]:
        """Return all, the latest first."""
        kept = self._kept.get(user_id, {}).values()
        return [memory for _, memory in sorted(kept, key=lambda each: -each[0])]

    async def forget(self, user_id: str, memory_id: str) -> bool:
        """Forget one."""
        return self._kept.get(user_id, {}).pop(memory_id, None) is not None

    async def forget_user(self, user_id: str) -> None:
        """Forget all."""
        self._kept.pop(user_id, None)
