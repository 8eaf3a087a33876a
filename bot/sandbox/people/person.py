"""People, and what they do: a test speaks for them, and no HTTP is involved."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from bot.sandbox.answers.answers import Answer, answer_to
from bot.sandbox.gestures import gestures
from bot.sandbox.posting import edits, posts, reactions, threads
from bot.sandbox.posting.drafts import File, read_draft, written
from bot.sandbox.refusals.errors import DiscordError, Refusal
from bot.sandbox.resources.channels import Channel, DirectChannel, Place, Thread
from bot.sandbox.resources.messages import FORWARDS, Message
from bot.sandbox.resources.modals import Modal
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.users import Bot, User

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

    about = ""

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
            return posts.post(in_, self, draft)

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
                posts.require(message.place, self, Permissions.MANAGE_MESSAGES)
            edits.delete(message)

    async def asks(self, question: str, answers: Iterable[str], *, in_: Place) -> Message:
        """Post a poll."""
        media = [{"poll_media": {"text": answer}} for answer in answers]
        poll = {"question": {"text": question}, "answers": media}
        return await self.says("", in_=in_, poll=poll)

    async def forwards(self, message: Message, *, to: Place) -> Message:
        """Forward a message to another place."""
        reference = {
            "type": FORWARDS,
            "channel_id": str(message.place.id),
            "message_id": str(message.id),
        }
        with as_a_person():
            return posts.post(to, self, written("", (), {"message_reference": reference}))

    async def reacts(self, message: Message, emoji: str) -> None:
        """Add a reaction."""
        with as_a_person():
            reactions.add(message, self, emoji)

    async def unreacts(self, message: Message, emoji: str) -> None:
        """Take an own reaction back."""
        reactions.remove(message, self, emoji)

    async def types(self, *, in_: Place) -> None:
        """Start typing."""
        with as_a_person():
            posts.require(in_, self, in_.sending)
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
            posts.require(to, self, to.sending)
            threads.add_to_thread(to, user, by=self)

    async def archives(self, thread: Thread, *, lock: bool = False) -> None:
        """Close a thread, as its owner or a moderator; only a moderator can lock it."""
        with as_a_person():
            if lock or thread.owner is not self:
                posts.require(thread, self, Permissions.MANAGE_THREADS)
        thread.set_archived(True)
        thread.locked = lock
        thread.world.hub.thread_changed(thread)

    def clicks(
        self, message: Message, button: str, timeout: float | None = None
    ) -> Coroutine[Any, Any, Answer]:
        """Click a button, named by label or custom_id, and wait for what comes of it.

        Raises:
            TimeoutError: The click was acknowledged, and nothing more came.
        """
        return answer_to(gestures.click(self, message, button), timeout)

    def selects(
        self, message: Message, menu: str, values: Iterable[Any], timeout: float | None = None
    ) -> Coroutine[Any, Any, Answer]:
        """Choose from a select menu, named by custom_id or placeholder.

        Options go by value or label; users, roles and places as they are.

        Raises:
            TimeoutError: The choice was acknowledged, and nothing more came.
        """
        return answer_to(gestures.choice(self, message, menu, values), timeout)

    def submits(
        self, modal: Modal, timeout: float | None = None, **fields: Any
    ) -> Coroutine[Any, Any, Answer]:
        """Fill in a form that was opened for this person, and send it off.

        Fields go by custom_id or label: texts, and lists for select menus. What is left out
        keeps the text that the bot put there.

        Raises:
            TimeoutError: The form was acknowledged, and nothing more came.
        """
        return answer_to(gestures.submission(self, modal, fields), timeout)

    async def runs(self, command: str, *, in_: Place, **options: Any) -> Answer:
        """Run a slash command and wait for its answer.

        Options go by name: texts, numbers, booleans, users, roles, places, and
        ``(name, bytes)`` for a file.
        """
        return await answer_to(gestures.command(self, command, in_, options))

    async def completes(
        self, command: str, *, in_: Place, option: str, typed: str = "", **options: Any
    ) -> list[tuple[str, str | int | float]]:
        """Type into an option that completes, and return the choices as (name, value).

        Options that are filled in already go by name.

        Raises:
            TimeoutError: The bot offered nothing in time.
        """
        interaction = gestures.completion(self, command, in_, option, typed, options)
        if (await answer_to(interaction)).failed:
            raise TimeoutError(f"no choices for {option!r} of {command}")
        return interaction.choices
