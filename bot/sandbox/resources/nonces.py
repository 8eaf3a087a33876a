"""Nonces: a message that is sent twice is posted once (reference, "Create Message")."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bot.sandbox.refusals.errors import Refusal
from bot.sandbox.resources.channels import Place
from bot.sandbox.resources.messages import Message
from bot.sandbox.resources.users import User

if TYPE_CHECKING:
    from bot.sandbox.resources.state import State

Key = tuple[Place, User, str]


class Nonces:
    """The messages of the past few minutes, by channel, author and nonce."""

    def __init__(self, world: State) -> None:
        self._world = world
        self._first: dict[Key, Message] = {}

    def earlier(self, place: Place, author: User, nonce: str | int | None) -> Message | None:
        """Return the message that a nonce has posted already.

        Raises:
            DiscordError: 10008, it was deleted since.
        """
        if nonce in (None, ""):
            return None
        self._forget()
        found = self._first.get((place, author, str(nonce)))
        if found is not None and found.deleted:
            raise Refusal.UNKNOWN_MESSAGE.error()
        return found

    def remember(self, message: Message) -> None:
        """Keep a new message's nonce, enforced or not."""
        if message.nonce not in (None, ""):
            self._forget()
            key = (message.place, message.author, str(message.nonce))
            self._first.setdefault(key, message)

    def _forget(self) -> None:
        # Insertion order is the order of time: those that are over stand in front.
        oldest = self._world.clock.now() - timedelta(seconds=self._world.nonce_window)
        while self._first:
            key, message = next(iter(self._first.items()))
            if message.created_at >= oldest:
                break
            del self._first[key]
