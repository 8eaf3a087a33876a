"""The one place from which messages are sent, edited and deleted."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import discord

from bot.failpoints import around
from bot.frontend.ids import message_of
from bot.frontend.refusals import (
    ContentRefusedError,
    DiscordError,
    MessageGoneError,
    RefusedError,
    TooLargeError,
    asked,
    lacking,
)
from bot.frontend.showing.acknowledged import acknowledged
from bot.frontend.showing.uploads import NOT_ALLOWED, TOO_LARGE, Blobs, Ready, Uploads, no_blobs
from bot.frontend.view.shown import Button, Key, Shown, marks

NOBODY = discord.AllowedMentions.none()
SEARCHED = 200  # messages looked through for one whose id was lost


class Outbox:
    """Writes to places by their ids, so that nothing has to be cached or fetched.

    No message pings, and none has link previews: Discord would fetch, unasked, what a model was
    made to write into an address.
    """

    def __init__(self, client: discord.Client, blobs: Blobs = no_blobs) -> None:
        self._client = client
        self._uploads = Uploads(client, blobs)

    def _place(self, channel_id: int) -> discord.PartialMessageable:
        return self._client.get_partial_messageable(channel_id)

    def _lacking(self, channel_id: int) -> str:
        return lacking(self._client, channel_id)

    async def send(self, channel_id: int, shown: Shown, *, nonce: str) -> int:
        """Post a message and return its id.

        A reply that may not be one is posted without its reference, a file that is too large or
        not allowed as a note, a text that is blocked as a sentence about it. Not so a card that
        asks: nobody is to approve what is not shown.

        Raises:
            ContentRefusedError: if a card cannot show what it asks for.
            DiscordError: if it could not be posted.
        """
        ready = await self._uploads.ready(channel_id, shown)
        try:
            if shown.asks and not ready.complete:
                raise TooLargeError("a file is too large")
            return await self._send(channel_id, ready, nonce)
        except TooLargeError:
            if shown.asks:
                raise ContentRefusedError("the arguments are too large to be shown") from None
            return await self._send(channel_id, ready.without_files(TOO_LARGE), nonce)
        except ContentRefusedError as exc:
            if shown.asks:
                raise
            return await self._send(channel_id, _blocked(shown, exc), nonce)
        except RefusedError:
            if shown.asks or not ready.data:
                raise
            return await self._send(channel_id, ready.without_files(NOT_ALLOWED), nonce)

    async def _send(self, channel_id: int, ready: Ready, nonce: str) -> int:
        reply_to = message_of(ready.shown.reply_to)
        if reply_to is None or reply_to == channel_id:  # a thread's starter is not in the thread
            return await self._post(channel_id, ready, nonce, None)
        try:
            return await self._post(channel_id, ready, nonce, reply_to)
        except ContentRefusedError:
            raise
        except RefusedError:
            return await self._post(channel_id, ready, nonce, None)

    async def _post(self, channel_id: int, ready: Ready, nonce: str, reply_to: int | None) -> int:
        place = self._place(channel_id)
        options = _options(ready.shown, _reference(channel_id, reply_to))
        with around("send"):
            message = await asked(
                lambda: place.send(
                    ready.shown.content,
                    nonce=nonce,
                    files=ready.files,
                    allowed_mentions=NOBODY,
                    suppress_embeds=True,
                    **options,
                ),
                lambda: self._lacking(channel_id),
            )
        return message.id

    async def edit(self, channel_id: int, message_id: int, shown: Shown) -> None:
        """Change a message to show something else.

        Raises:
            MessageGoneError: if it was deleted.
            DiscordError: if it could not be changed.
        """
        ready = await self._uploads.ready(channel_id, shown)
        try:
            await self._edit(channel_id, message_id, ready)
        except TooLargeError:
            await self._edit(channel_id, message_id, ready.without_files(TOO_LARGE))
        except ContentRefusedError as exc:
            await self._edit(channel_id, message_id, _blocked(shown, exc))
        except RefusedError:
            if not ready.data:
                raise
            await self._edit(channel_id, message_id, ready.without_files(NOT_ALLOWED))

    async def _edit(self, channel_id: int, message_id: int, ready: Ready) -> None:
        message = self._place(channel_id).get_partial_message(message_id)
        with around("edit"):
            await acknowledged(
                lambda: message.edit(
                    content=ready.shown.content,
                    view=view_of(ready.shown.buttons),
                    attachments=ready.files,
                    allowed_mentions=NOBODY,
                ),
                lambda: self._lacking(channel_id),
            )

    async def delete(self, channel_id: int, message_id: int) -> None:
        """Take a message away; one that is gone already is fine."""
        message = self._place(channel_id).get_partial_message(message_id)
        try:
            with around("delete"):
                await acknowledged(message.delete)
        except MessageGoneError:
            return

    async def find(self, channel_id: int, shown: Shown) -> list[int]:
        """Look in a place for the message that shows something, when its id was lost.

        What it carries tells: the `custom_id` of its buttons, else its text if it is to have
        one, with the sizes of its files. The likeliest comes first. Much may have been said since
        the process ended, or between the question and that: the latest messages are read, and the
        first after it.
        """
        after = message_of(shown.asked or shown.reply_to)
        read = await self._read(channel_id, after, oldest_first=False)
        if after is not None and len(read) == SEARCHED:
            first = await self._read(channel_id, after, oldest_first=True)
            read = list({each.id: each for each in (*read, *reversed(first))}.values())
        own = self._client.user.id if self._client.user else 0
        said = [each for each in read if each.author.id == own]
        wanted = marks(shown)
        carrying = [each.id for each in said if wanted & _custom_ids(each)]
        ready = await self._uploads.ready(channel_id, shown)
        saying = [each.id for each in said if _says(each, ready)]
        return [*reversed(carrying), *reversed(saying)]

    async def _read(
        self, channel_id: int, after: int | None, *, oldest_first: bool
    ) -> list[discord.Message]:
        history = self._place(channel_id).history(
            limit=SEARCHED,
            after=discord.Object(after) if after else None,
            oldest_first=oldest_first,
        )

        async def read() -> list[discord.Message]:
            return [each async for each in history]

        return await asked(read, lambda: self._lacking(channel_id))

    async def tell(self, channel_id: int, text: str, *, reply_to: int | None = None) -> None:
        """Say something that is not part of a conversation.

        What is replied to a message is said once, however many processes hear that.

        Raises:
            DiscordError: if it could not be said.
        """
        try:
            await self._tell(channel_id, text, reply_to)
        except MessageGoneError:
            if reply_to is None:
                raise
            # It was said a moment ago, and deleted since.

    async def _tell(self, channel_id: int, text: str, reply_to: int | None) -> None:
        place = self._place(channel_id)
        reference = _reference(channel_id, reply_to)
        options: dict[str, Any] = {}
        if reference is not None:
            options = {"reference": reference, "nonce": _nonce(f"{reply_to}\0{text}")}
        with around("tell"):
            await asked(
                lambda: place.send(text, allowed_mentions=NOBODY, suppress_embeds=True, **options),
                lambda: self._lacking(channel_id),
            )

    async def post(
        self,
        channel_id: int,
        *,
        nonce: str,
        text: str | None = None,
        poll: discord.Poll | None = None,
    ) -> None:
        """Post what a tool is to post; an error of discord.py stays one."""
        place = self._place(channel_id)
        options: dict[str, Any] = {"poll": poll} if poll else {}
        await place.send(text, nonce=nonce, allowed_mentions=NOBODY, **options)

    async def typing(self, channel_id: int) -> None:
        """Show for ten seconds, or until the next message, that the bot types."""
        place = self._place(channel_id)
        await asked(lambda: place.typing())


def nonce_of(session_id: str, key: Key, replaced: int | None) -> str:
    """Return what keeps a retried send from being posted twice (25 characters at most).

    A message that replaces a deleted one needs another nonce than that one had.
    """
    return _nonce(f"{session_id}\0{key.text}\0{key.purpose}\0{replaced}")


def _nonce(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:25]


def _reference(channel_id: int, message_id: int | None) -> discord.MessageReference | None:
    if message_id is None:
        return None
    return discord.MessageReference(
        message_id=message_id, channel_id=channel_id, fail_if_not_exists=False
    )


def _options(shown: Shown, reference: discord.MessageReference | None) -> dict[str, Any]:
    """Return the optional arguments of a send: its types do not allow `None` for them."""
    options = {"view": view_of(shown.buttons), "reference": reference}
    return {name: value for name, value in options.items() if value is not None}


def view_of(buttons: Sequence[Button]) -> discord.ui.View | None:
    """Return buttons as discord.py sends them, `None` if there are none."""
    if not buttons:
        return None
    view = discord.ui.View(timeout=None)
    for button in buttons:
        view.add_item(
            discord.ui.Button(
                label=button.label,
                custom_id=button.custom_id,
                style=discord.ButtonStyle[button.style],
            )
        )
    # A view that has stopped is not kept by the client: dynamic items answer its buttons.
    view.stop()
    return view


def _custom_ids(message: discord.Message) -> set[str]:
    rows = (row for row in message.components if isinstance(row, discord.ActionRow))
    return {each.custom_id or "" for row in rows for each in row.children}


def _says(message: discord.Message, ready: Ready) -> bool:
    text = ready.shown.content.strip()
    sizes = [each.size for each in message.attachments]
    return bool(text) and message.content.strip() == text and sizes == ready.sizes


def _blocked(shown: Shown, why: DiscordError) -> Ready:
    text = f"Discord did not let me say this: {why}."
    return Ready(replace(shown, content=text, files=()), complete=False)
