"""People, and what they do: a test speaks for them, and no HTTP is involved."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bot.sandbox import command_options, edits, posting, reactions, threads, typing_commands
from bot.sandbox.answers import Answer, answer_to
from bot.sandbox.drafts import File, read_draft, written
from bot.sandbox.errors import DiscordError, Refusal
from bot.sandbox.interactions import Interaction, InteractionKind
from bot.sandbox.messages import Message
from bot.sandbox.permissions import Permissions
from bot.sandbox.users import Bot, User

if TYPE_CHECKING:
    from bot.sandbox.channels import Channel, DirectChannel, Place, Thread

FORBIDDEN = {
    refusal.value[1]
    for refusal in (
        Refusal.MISSING_ACCESS,
        Refusal.MISSING_PERMISSIONS,
        Refusal.LOCKED_THREAD,
        Refusal.ARCHIVED_THREAD,
    )
}


@contextmanager
def as_a_person() -> Iterator[None]:
    """Turn a refusal into what a test expects of a person who tried it."""
    try:
        yield
    except DiscordError as refusal:
        error = PermissionError if refusal.code in FORBIDDEN else ValueError
        raise error(f"{refusal} {refusal.errors or ''}") from refusal


class Person(User):
    """Someone who types and clicks.

    Everything that a person may not do raises PermissionError; what the client would not
    send raises ValueError; what is not there LookupError.
    """

    def dm(self, bot: Bot) -> DirectChannel:
        """Open the DM channel with a bot, or return it."""
        return self.world.direct(self, bot)

    def closes_dms(self) -> None:
        """Accept no DMs from bots from now on."""
        self.world.dms_closed.add(self)

    async def says(
        self,
        content: str,
        *,
        in_: Place,
        reply_to: Message | None = None,
        attachments: Iterable[File] = (),
        **fields: Any,
    ) -> Message:
        """Post a message; ``fields`` are further ones of Discord's message body."""
        with as_a_person():
            draft = written(content, attachments, fields, reply_to.id if reply_to else None)
            return posting.post(in_, self, draft)

    async def edits(self, message: Message, content: str) -> None:
        """Change an own message."""
        if message.author is not self:
            raise PermissionError(f"{self.name} did not write {message.line()}")
        with as_a_person():
            edits.edit(message, read_draft({"content": content}, {}))

    async def deletes(self, message: Message) -> None:
        """Delete an own message, or as a moderator another's."""
        with as_a_person():
            if message.author is not self:
                posting.require(message.place, self, Permissions.MANAGE_MESSAGES)
            edits.delete(message)

    async def reacts(self, message: Message, emoji: str) -> None:
        """Add a reaction."""
        with as_a_person():
            reactions.add(message, self, emoji)

    async def types(self, *, in_: Place) -> None:
        """Start typing."""
        with as_a_person():
            posting.require(in_, self, in_.sending)
            reactions.typing(in_, self)

    async def opens_thread(
        self,
        name: str,
        *,
        in_: Channel | None = None,
        on: Message | None = None,
        private: bool = False,
    ) -> Thread:
        """Open a thread on a message, or in a channel."""
        with as_a_person():
            if on is not None:
                return threads.thread_on(on, self, name)
            if in_ is None:
                raise ValueError("a thread is opened in a channel or on a message")
            return threads.thread_in(in_, self, name, private=private)

    async def adds(self, user: User, *, to: Thread) -> None:
        """Bring someone into a thread."""
        with as_a_person():
            posting.require(to, self, to.sending)
            threads.add_to_thread(to, user, by=self)

    async def archives(self, thread: Thread, *, lock: bool = False) -> None:
        """Close a thread, as its owner or a moderator; only a moderator can lock it."""
        with as_a_person():
            if lock or thread.owner is not self:
                posting.require(thread, self, Permissions.MANAGE_THREADS)
        threads.set_archived(thread, True)
        thread.locked = lock
        threads.thread_changed(thread)

    def clicks(
        self, message: Message, button: str, timeout: float | None = None
    ) -> Coroutine[Any, Any, Answer]:
        """Click a button, named by label or custom_id, and wait for what comes of it.

        Raises:
            TimeoutError: The click was acknowledged, and nothing more came.
        """
        self._refuse_unseen(message)
        found = message.clickable(button)
        if not isinstance(message.author, Bot):
            raise LookupError("nobody listens to this button")
        data = {"custom_id": found["custom_id"], "component_type": found["type"]}
        interaction = Interaction(
            self.world,
            message.author,
            self,
            message.place,
            InteractionKind.COMPONENT,
            data,
            message,
        )
        return answer_to(interaction, timeout)

    def _refuse_unseen(self, message: Message) -> None:
        if message.deleted:
            raise LookupError(f"gone: {message.line()}")
        hidden = message.seen_only_by not in (None, self)
        if hidden or not message.place.seen_by(self):
            raise PermissionError(f"{self.name} does not see {message.line()}")

    async def runs(self, command: str, *, in_: Place, **options: Any) -> Answer:
        """Run a slash command and wait for its answer.

        Options go by name: texts, numbers, booleans, users, roles, places, and
        ``(name, bytes)`` for a file.
        """
        if getattr(in_, "archived", False):
            raise PermissionError(f"{in_.name} is archived")
        typed = typing_commands.find_command(self, in_, command)
        data = typed.data(command_options.fill_in(typed, options))
        interaction = Interaction(self.world, typed.bot, self, in_, InteractionKind.COMMAND, data)
        return await answer_to(interaction)

    async def completes(
        self, command: str, *, in_: Place, option: str, typed: str = "", **options: Any
    ) -> list[tuple[str, str | int | float]]:
        """Type into an option that completes, and return the choices as (name, value).

        Options that are filled in already go by name.

        Raises:
            TimeoutError: The bot offered nothing in time.
        """
        found = typing_commands.find_command(self, in_, command)
        spec = next((each for each in found.options if each["name"] == option), None)
        if spec is None or not spec.get("autocomplete"):
            raise LookupError(f"{command} completes no option {option!r}")
        focused = {"name": option, "type": spec["type"], "value": typed, "focused": True}
        data = found.data([*command_options.fill_in(found, options, partly=True), focused])
        interaction = Interaction(
            self.world, found.bot, self, in_, InteractionKind.AUTOCOMPLETE, data
        )
        if (await answer_to(interaction)).failed:
            raise TimeoutError(f"no choices for {option!r} of {command}")
        return interaction.choices
