"""Files on their way out: read right before they are sent, and only what a place takes."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import discord

from bot.frontend.rendering.markdown import LIMIT
from bot.frontend.view.shown import File, Shown

EVERYWHERE = 10 * 1024 * 1024
"""What Discord takes of a file where no server allows more (reference, "Uploading Files")."""
TOO_LARGE = "Too large for Discord"
NOT_ALLOWED = "I may not attach files here"
NOT_KEPT = "Not kept any more"

Blobs = Callable[[str], Awaitable[bytes | None]]


async def no_blobs(sha256: str) -> bytes | None:
    """Find nothing: for who only sends text."""
    return None


@dataclass(frozen=True, slots=True)
class Ready:
    """A message as it is sent.

    Attributes:
        shown: With a note of the files that cannot be.
        data: What is in its files, in their order.
        complete: Whether all files can be sent.
    """

    shown: Shown
    data: Sequence[bytes] = ()
    complete: bool = True

    @property
    def files(self) -> list[discord.File]:
        """The files, to be sent once."""
        pairs = zip(self.shown.files, self.data, strict=True)
        return [discord.File(io.BytesIO(data), file.name) for file, data in pairs]

    @property
    def sizes(self) -> list[int]:
        """How large each file is."""
        return [len(data) for data in self.data]

    def without_files(self, why: str) -> Ready:
        """Return it with a note in place of its files."""
        return Ready(_noted(self.shown, (), {why: self.shown.files}), complete=False)


class Uploads:
    """Gets messages ready to be sent."""

    def __init__(self, client: discord.Client, blobs: Blobs) -> None:
        self._client = client
        self._blobs = blobs

    async def ready(self, channel_id: int, shown: Shown) -> Ready:
        """Return a message with those of its files that its place takes.

        Raises:
            StorageError: if the files cannot be read.
        """
        most = self._most(channel_id)
        fit: list[tuple[File, bytes]] = []
        large: list[File] = []
        gone: list[File] = []
        for file in shown.files:
            data = await self._read(file)
            if data is None:
                gone.append(file)
            elif len(data) > most:
                large.append(file)
            else:
                fit.append((file, data))
        if not large and not gone:
            return Ready(shown, [data for _, data in fit])
        noted = _noted(shown, [file for file, _ in fit], {TOO_LARGE: large, NOT_KEPT: gone})
        return Ready(noted, [data for _, data in fit], complete=False)

    async def _read(self, file: File) -> bytes | None:
        if isinstance(file.data, str):
            return file.data.encode()
        return await self._blobs(file.data.sha256)

    def _most(self, channel_id: int) -> int:
        guild = getattr(self._client.get_channel(channel_id), "guild", None)
        return guild.filesize_limit if isinstance(guild, discord.Guild) else EVERYWHERE


def _noted(shown: Shown, files: Sequence[File], told: Mapping[str, Sequence[File]]) -> Shown:
    """Return a message with fewer files, and a line that names the others."""
    notes = (f"({why}: {_names(left)}.)" for why, left in told.items() if left)
    note = "\n" + " ".join(notes)
    content = (shown.content[: LIMIT - len(note)] + note).strip()
    return replace(shown, content=content, files=tuple(files))


def _names(files: Sequence[File]) -> str:
    names = ", ".join(file.name for file in files)
    return names if len(names) <= 300 else f"{names[:299]}…"
