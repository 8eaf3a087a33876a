"""Places where messages are: channels, threads and DMs."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.sandbox.resources import permissions
from bot.sandbox.resources.messages import Message
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.users import Bot, User
from bot.sandbox.timing.pulse import PATIENCE

if TYPE_CHECKING:
    from bot.sandbox.resources.guilds import Guild, Overwrite, Role
    from bot.sandbox.resources.state import State

DUMPED = 20


class Place:
    """What channels, threads and DMs have in common.

    Attributes:
        history: Every message, oldest first, deleted and system ones too.
        typists: Who showed that they type, and when.
    """

    kind: int
    sending = Permissions.SEND_MESSAGES

    def __init__(self, world: State, place_id: int, name: str, guild: Guild | None) -> None:
        self.world, self.id, self.name, self.guild = world, place_id, name, guild
        self.history: list[Message] = []
        self.last_message_id: int | None = None
        self.typists: list[tuple[User, datetime]] = []
        self._returned: set[int] = set()

    @property
    def mention(self) -> str:
        """The text that links to this place."""
        return f"<#{self.id}>"

    @property
    def messages(self) -> list[Message]:
        """What was said and still stands, oldest first."""
        return [each for each in self.history if not each.deleted and not each.is_system]

    @property
    def pins(self) -> list[Message]:
        """The pinned messages, latest pin first."""
        pinned = [each for each in self.messages if each.pinned_at is not None]
        return sorted(pinned, key=lambda each: str(each.pinned_at), reverse=True)

    def permissions_for(self, user: User) -> Permissions:
        """Return what the user may do here."""
        raise NotImplementedError

    def seen_by(self, user: User) -> bool:
        """Whether the user may look in here at all."""
        return Permissions.VIEW_CHANNEL in self.permissions_for(user)

    def find(self, message_id: int) -> Message | None:
        """Return the standing message with this id."""
        found = (each for each in reversed(self.history) if each.id == message_id)
        message = next(found, None)
        return None if message is None or message.deleted else message

    def next_message_from(
        self, author: User, timeout: float = PATIENCE
    ) -> Coroutine[Any, Any, Message]:
        """Return the author's first message that no earlier call returned.

        Raises:
            TimeoutError: None came; the text shows the place as it is.
        """

        def probe() -> Message | None:
            fresh = (each for each in self.messages if each.id not in self._returned)
            found = next((each for each in fresh if each.author is author and each.is_there), None)
            if found is not None:
                self._returned.add(found.id)
            return found

        wanted = f"no further message from {author.name}"
        return self.world.pulse.until(probe, timeout, lambda: f"{wanted}\n{self.dump()}")

    def until(
        self, predicate: Callable[[list[Message]], bool], timeout: float = PATIENCE
    ) -> Coroutine[Any, Any, list[Message]]:
        """Return the messages once the predicate holds for them.

        Raises:
            TimeoutError: It never held; the text shows the place as it is.
        """

        def probe() -> list[Message] | None:
            messages = self.messages
            return messages if predicate(messages) else None

        return self.world.pulse.until(probe, timeout, lambda: f"it never held\n{self.dump()}")

    def dump(self) -> str:
        """Return the latest messages as lines for a person to read."""
        lines = [each.line() for each in self.history[-DUMPED:]]
        return "\n".join([f"#{self.name}:", *(lines or ["(nothing)"])])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class Channel(Place):
    """A text channel of a guild."""

    kind = 0
    guild: Guild

    def __init__(
        self,
        guild: Guild,
        name: str,
        topic: str | None,
        overwrites: dict[Role | User, Overwrite],
    ) -> None:
        super().__init__(guild.world, guild.world.ids.next(), name, guild)
        self.topic, self.overwrites = topic, overwrites
        self.position = len(guild.channels)
        self.threads: list[Thread] = []

    def permissions_for(self, user: User) -> Permissions:
        """Return what the user may do here."""
        return permissions.in_channel(self, user)


class Thread(Place):
    """A thread below a channel; a private one is seen by its members and moderators."""

    guild: Guild
    sending = Permissions.SEND_MESSAGES_IN_THREADS

    def __init__(
        self, parent: Channel, name: str, owner: User, *, thread_id: int, private: bool
    ) -> None:
        super().__init__(parent.world, thread_id, name, parent.guild)
        self.parent, self.owner, self.private = parent, owner, private
        self.kind = 12 if private else 11
        self.archived = self.locked = False
        self.invitable = True
        self.auto_archive_duration = 1440
        self.created_at = self.archive_changed_at = parent.world.clock.now()
        self.members: dict[int, datetime] = {}

    def lock(self, *, archived: bool = False) -> None:
        """Let only moderators write here, as one of them does; and close it if wanted."""
        self._set_locked(True, archived)

    def unlock(self) -> None:
        """Let everyone write here again."""
        self._set_locked(False, False)

    def _set_locked(self, locked: bool, archived: bool) -> None:
        self.locked = locked
        self.set_archived(archived)
        self.world.hub.thread_changed(self)

    def set_archived(self, archived: bool) -> None:
        """Archive it or open it again; the caller tells of it."""
        if self.archived != archived:
            self.archived, self.archive_changed_at = archived, self.world.clock.now()

    def permissions_for(self, user: User) -> Permissions:
        """Return what the user may do here: the parent decides, and membership when private."""
        granted = permissions.in_channel(self.parent, user, self.sending)
        hidden = self.private and user.id not in self.members
        return permissions.NONE if hidden and Permissions.MANAGE_THREADS not in granted else granted


class DirectChannel(Place):
    """A DM between a person and a bot."""

    kind = 1

    def __init__(self, person: User, bot: Bot) -> None:
        super().__init__(person.world, person.world.ids.next(), f"{person.name}+{bot.name}", None)
        self.person, self.bot = person, bot

    def permissions_for(self, user: User) -> Permissions:
        """Return what the user may do here."""
        return permissions.IN_DMS if user in (self.person, self.bot) else permissions.NONE
