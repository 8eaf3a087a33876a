"""What comes with a message that its author did not write, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import discord

from bot.events import Quote
from bot.frontend.ids import user_id_of
from bot.frontend.text import one_line, speaker_name

SHORTENED = 1500  # characters of a message that is replied to


def quotes_of(message: discord.Message) -> Iterator[Quote]:
    """Give what a message carries beside its text: forwards, embeds, stickers, a poll."""
    for snapshot in message.message_snapshots:
        yield Quote(what="forwarded message", text=_all(snapshot))
    for embed in message.embeds:
        if text := embed_text(embed):
            yield Quote(what="embed", text=text)
    for sticker in message.stickers:
        yield Quote(what="sticker", text=sticker.name)
    if message.poll is not None:
        yield Quote(what="poll", text=poll_text(message.poll))


def replied_to(message: discord.Message, text: str) -> Quote:
    """Return what is quoted of a message that another one replies to.

    Args:
        message: The one replied to.
        text: Its own text, with names for mentions.
    """
    name = speaker_name(message.author.display_name)
    more = (each.text for each in quotes_of(message))
    whole = "\n".join(filter(None, (text, *more, *_names(message.attachments))))
    cut = whole if len(whole) <= SHORTENED else f"{whole[: SHORTENED - 1]}…"
    return Quote(
        what=f"the message of {name} that this one replies to",
        text=cut,
        author_id=user_id_of(message.author.id),
    )


def embed_text(embed: discord.Embed) -> str:
    """Return what an embed says."""
    fields = (f"{field.name}: {field.value}" for field in embed.fields)
    texts = (embed.author.name, embed.title, embed.description, *fields, embed.footer.text)
    return "\n".join(text for text in (*texts, embed.url) if text)


def poll_text(poll: discord.Poll) -> str:
    """Return a poll's question and its answers."""
    answers = (f"- {answer.text or answer.emoji or ''}" for answer in poll.answers)
    return "\n".join((poll.question or "", *answers))


def _all(said: discord.MessageSnapshot) -> str:
    embeds = map(embed_text, said.embeds)
    stickers = (f"(sticker: {each.name})" for each in said.stickers)
    return "\n".join(filter(None, (said.content, *embeds, *stickers, *_names(said.attachments))))


def _names(files: Sequence[discord.Attachment]) -> Iterable[str]:
    return (f"(file: {one_line(file.filename, 100)})" for file in files)
