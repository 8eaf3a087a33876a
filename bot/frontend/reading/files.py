"""The files that come with a message: read when they arrive, since their addresses expire."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import discord

from bot.agent.history.media import image_type, is_pdf
from bot.agent.tools.threads import in_daemon_thread
from bot.events import Attachment
from bot.frontend.reading.content import Content, UnreadableError
from bot.frontend.reading.images import prepared
from bot.frontend.reading.pdfs import pdf_text
from bot.frontend.reading.texts import as_text
from bot.frontend.refusals import DiscordError, asked
from bot.frontend.text import one_line
from bot.sessions import SessionStore

logger = logging.getLogger(__name__)

MOST_FILES = 10  # of one message, what it quotes included
LONGEST_DOWNLOAD = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Files:
    """What could be kept, and sentences about what could not be read."""

    kept: tuple[Attachment, ...]
    notes: tuple[str, ...]


class FileReader:
    """Reads files and keeps what they hold: images, and texts in UTF-8."""

    def __init__(self, store: SessionStore, *, limit: int, sees_images: bool) -> None:
        self._store = store
        self._limit = limit
        self._sees_images = sees_images
        self._one_at_a_time = asyncio.Lock()  # an image unpacked can take much memory

    async def read(self, files: Sequence[discord.Attachment]) -> Files:
        """Read and store files.

        Raises:
            StorageError: if one cannot be stored.
        """
        kept: list[Attachment] = []
        notes: list[str] = []
        downloads = await asyncio.gather(*map(self._downloaded, files[:MOST_FILES]))
        for file, data in zip(files, downloads, strict=False):
            name = one_line(file.filename, 100)
            try:
                content = await self._understood(data)
            except UnreadableError as exc:
                notes.append(f"The file {name} was not read: {exc}.")
                continue
            if content.read:
                notes.append(f"Of the file {name} I read only {content.read}.")
            sha256 = await self._store.put_blob(content.data)
            kept.append(Attachment(sha256=sha256, media_type=content.media_type, name=name))
        return Files(tuple(kept), (*notes, *self._blind_to(kept), *_too_many(files)))

    async def _downloaded(self, file: discord.Attachment) -> bytes | UnreadableError:
        if file.size > self._limit:
            return UnreadableError(f"it is too large ({_megabytes(file.size)})")
        try:
            async with asyncio.timeout(LONGEST_DOWNLOAD):
                return await asked(file.read)
        except (DiscordError, TimeoutError) as exc:
            logger.warning("a file could not be downloaded: %s", exc)
            return UnreadableError("Discord did not give it to me")

    async def _understood(self, data: bytes | UnreadableError) -> Content:
        if isinstance(data, UnreadableError):
            raise data
        async with self._one_at_a_time:
            return await in_daemon_thread(partial(understood, data), name="reading a file")

    def _blind_to(self, kept: Iterable[Attachment]) -> Iterable[str]:
        names = [each.name for each in kept if each.media_type.startswith("image/")]
        if names and not self._sees_images:
            yield f"This model cannot see images, so it is only told the name: {', '.join(names)}."


def understood(data: bytes) -> Content:
    """Return what a file holds, told apart by its bytes.

    Raises:
        UnreadableError: if it holds nothing that a model can read.
    """
    if image_type(data):
        return prepared(data)
    return pdf_text(data) if is_pdf(data) else as_text(data)


def _too_many(files: Sequence[discord.Attachment]) -> Iterable[str]:
    if len(files) > MOST_FILES:
        yield f"Of {len(files)} files I read only the first {MOST_FILES}."


def _megabytes(size: int) -> str:
    return f"{size / (1024 * 1024):,.1f} MB"
