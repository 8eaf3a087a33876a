"""The files that come with a message: their bytes are kept when they arrive."""

from __future__ import annotations

import logging
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass

import discord

from bot.events import Attachment
from bot.frontend.refusals import DiscordError, asked
from bot.frontend.text import one_line
from bot.sessions import SessionStore

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Files:
    """What could be kept, and a line for the model about each file that could not."""

    kept: tuple[Attachment, ...]
    notes: tuple[str, ...]


async def keep(files: Sequence[discord.Attachment], store: SessionStore, *, limit: int) -> Files:
    """Read files now, since their addresses expire, and store what they hold."""
    kept: list[Attachment] = []
    notes: list[str] = []
    for file in files:
        name = one_line(file.filename, 100)
        try:
            if file.size > limit:
                notes.append(f"[The file {name} is too large to be read: {file.size:,} bytes.]")
                continue
            data = await asked(file.read)
        except DiscordError as exc:
            logger.warning("a file could not be read: %s", exc)
            notes.append(f"[The file {name} could not be read.]")
            continue
        sha256 = await store.put_blob(data)
        kept.append(Attachment(sha256=sha256, media_type=_media_type(file), name=name))
    return Files(tuple(kept), tuple(notes))


def _media_type(file: discord.Attachment) -> str:
    told = (file.content_type or "").partition(";")[0].strip()
    return told or mimetypes.guess_type(file.filename)[0] or "application/octet-stream"
