"""Messages, as people see them."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING, Any

from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources.polls import Poll
from bot.sandbox.resources.stickers import Sticker
from bot.sandbox.timing.pulse import PATIENCE

if TYPE_CHECKING:
    from bot.sandbox.resources.channels import Place, Thread
    from bot.sandbox.resources.guilds import Role
    from bot.sandbox.resources.interactions import Interaction
    from bot.sandbox.resources.state import State
    from bot.sandbox.resources.users import User


UNKNOWN_TYPE = "application/octet-stream"
BUTTON = 2  # a component's type
REPLIES, FORWARDS = 0, 1  # the types of a message reference
UPLOAD_LIMIT = 10 * 1024 * 1024


class Kind(IntEnum):
    """The types of messages that occur here (reference, "Message Types")."""

    DEFAULT = 0
    MEMBER_ADDED = 1
    NAME_CHANGED = 4
    PINNED = 6
    THREAD_CREATED = 18
    REPLY = 19
    COMMAND = 20
    THREAD_STARTER = 21


SAID = {Kind.DEFAULT, Kind.REPLY, Kind.COMMAND}


class Flags(IntFlag):
    """The message flags that mean something here (reference, "Message Flags")."""

    SUPPRESS_EMBEDS = 1 << 2
    HAS_THREAD = 1 << 5
    EPHEMERAL = 1 << 6
    LOADING = 1 << 7
    SUPPRESS_NOTIFICATIONS = 1 << 12
    HAS_SNAPSHOT = 1 << 14
    COMPONENTS_V2 = 1 << 15


NO_FLAGS = Flags(0)


@dataclass(eq=False)
class Attachment:
    """A file of a message."""

    id: int
    filename: str
    data: bytes
    content_type: str | None = None
    description: str | None = None

    @property
    def media_type(self) -> str:
        """What it is: as its sender said, else as its name says."""
        said = self.content_type if self.content_type != UNKNOWN_TYPE else None
        return said or mimetypes.guess_type(self.filename)[0] or UNKNOWN_TYPE


@dataclass(frozen=True)
class Reference:
    """What a message refers to; the target may be gone by now."""

    channel_id: int
    message_id: int | None
    target: Message | None


@dataclass(frozen=True)
class Snapshot:
    """A message as it was when it was forwarded."""

    origin: Place
    message_id: int
    kind: Kind
    content: str
    embeds: list[Json]
    components: list[Json]
    attachments: list[Attachment]
    stickers: list[Sticker]
    flags: Flags
    mentions: list[User]
    mention_roles: list[Role]
    created_at: datetime
    edited_at: datetime | None

    @classmethod
    def of(cls, message: Message) -> Snapshot:
        """Keep what a message says now."""
        return cls(
            origin=message.place,
            message_id=message.id,
            kind=message.kind,
            content=message.content,
            embeds=list(message.embeds),
            components=list(message.components),
            attachments=list(message.attachments),
            stickers=list(message.stickers),
            flags=message.flags,
            mentions=list(message.mentions),
            mention_roles=list(message.mention_roles),
            created_at=message.created_at,
            edited_at=message.edited_at,
        )


@dataclass(frozen=True)
class Ping:
    """Someone was notified: a user, a role or "@everyone"."""

    message: Message
    who: User | Role | str
    at: datetime

    @property
    def by(self) -> User:
        """Who wrote the message."""
        return self.message.author


@dataclass(eq=False, repr=False)
class Message:
    """A message and what became of it.

    Attributes:
        edits: When the content changed, and to what.
        forwarded: What was forwarded with it; its own content is empty then.
        seen_only_by: The person an ephemeral answer is for.
        revision: How often anything about it has changed.
    """

    world: State
    id: int
    place: Place
    author: User
    created_at: datetime
    kind: Kind = Kind.DEFAULT
    content: str = ""
    embeds: list[Json] = field(default_factory=list)
    components: list[Json] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    stickers: list[Sticker] = field(default_factory=list)
    poll: Poll | None = None
    reference: Reference | None = None
    forwarded: Snapshot | None = None
    flags: Flags = NO_FLAGS
    nonce: str | int | None = None
    tts: bool = False
    webhook_id: int | None = None
    interaction: Interaction | None = None
    seen_only_by: User | None = None
    mentions: list[User] = field(default_factory=list)
    mention_roles: list[Role] = field(default_factory=list)
    mention_everyone: bool = False
    edited_at: datetime | None = None
    edits: list[tuple[datetime, str]] = field(default_factory=list)
    reactions: dict[str, list[User]] = field(default_factory=dict)
    pinned_at: datetime | None = None
    thread: Thread | None = None
    deleted: bool = False
    revision: int = 0

    @property
    def ephemeral(self) -> bool:
        """Whether only one person sees it."""
        return self.seen_only_by is not None

    @property
    def is_system(self) -> bool:
        """Whether Discord itself said it."""
        return self.kind not in SAID

    @property
    def is_there(self) -> bool:
        """Whether it has arrived, rather than "is thinking..."."""
        return Flags.LOADING not in self.flags

    @property
    def buttons(self) -> list[Json]:
        """All components that can be clicked, in reading order."""
        return list(_clickable(self.components))

    def clickable(self, wanted: str, kinds: Collection[int] = (BUTTON,)) -> Json:
        """Return the component of these kinds with this label, placeholder or custom_id.

        Raises:
            LookupError: There is none, or it is switched off.
        """
        for button in self.buttons:
            names = (button.get(key) for key in ("label", "placeholder", "custom_id"))
            if wanted in names and button["type"] in kinds and "url" not in button:
                if button.get("disabled"):
                    raise LookupError(f"{wanted!r} is switched off")
                return button
        raise LookupError(f"nothing to click called {wanted!r} on {self.line()}")

    def until(
        self, predicate: Callable[[Message], bool], timeout: float = PATIENCE
    ) -> Coroutine[Any, Any, Message]:
        """Return the message once the predicate holds; looks again at each edit.

        Raises:
            TimeoutError: It never held; the text shows the place as it is.
        """
        return self.world.pulse.until(
            lambda: self if predicate(self) else None,
            timeout,
            lambda: f"it never held of {self.line()}\n{self.place.dump()}",
        )

    def __repr__(self) -> str:
        return f"<Message {self.line()}>"

    def line(self) -> str:
        """Return the message as one line for a person to read."""
        marks = [name for name in ("deleted", "ephemeral", "is_system") if getattr(self, name)]
        labels = [str(button.get("label", button.get("custom_id"))) for button in self.buttons]
        files = [file.filename for file in self.attachments]
        tail = "".join(f" {extra}" for extra in (marks, labels, files) if extra)
        return f"[{self.created_at:%H:%M:%S}] {self.author.name}: {self.content!r}{tail}"


def _clickable(components: list[Json]) -> list[Json]:
    found = []
    for component in components:
        if "custom_id" in component or "url" in component:
            found.append(component)
        found += _clickable(component.get("components", []))
        if accessory := component.get("accessory"):
            found += _clickable([accessory])
    return found
