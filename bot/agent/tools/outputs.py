"""What a tool gives back beside text: files for the people, kept before its result is recorded."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.agent.history.visible import hides
from bot.events import Attachment, Receipt
from bot.sessions import SessionManager, SessionStore

MAX_FILES = 10
MAX_BYTES = 100 * 1024 * 1024
"""Of one file. A place may take less: that is looked at when it is shown."""
NAME_LENGTH = 80

_PATH = re.compile(r"[\\/]")


@dataclass(frozen=True, slots=True)
class File:
    """A file that a tool made.

    Attributes:
        name: With the extension that tells what it is; a path before it is left out.
        data: What is in it.
        media_type: Such as ``image/png``; by default what the name says.
    """

    name: str
    data: bytes
    media_type: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.data, bytes):
            raise TypeError(f"a file's data is bytes, not {type(self.data).__name__}")

    def kept(self, sha256: str) -> Attachment:
        """Return what the log has of it."""
        name = safe_name(self.name)
        guessed, _ = mimetypes.guess_type(name)
        media_type = self.media_type or guessed or "application/octet-stream"
        return Attachment(sha256=sha256, media_type=media_type, name=name)


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A tool's result: a text for the model; files and a receipt that the people are shown."""

    text: str = ""
    files: Sequence[File] = ()
    receipt: Receipt | None = None

    def __post_init__(self) -> None:
        if not all(isinstance(file, File) for file in self.files):
            raise TypeError("the files of a result are of the class File")


def safe_name(name: str) -> str:
    """Return a file's name without a path and without what hides or could mislead."""
    last = _PATH.split(name)[-1]
    plain = "".join(
        char if char.isalnum() or char in "._-" else "_" for char in last if not hides(char)
    ).lstrip(".")
    suffix = PurePosixPath(plain).suffix[:20]
    cut = plain if len(plain) <= NAME_LENGTH else plain[: NAME_LENGTH - len(suffix)] + suffix
    return cut or "file"


async def keep(output: ToolOutput, manager: SessionManager) -> tuple[str, tuple[Attachment, ...]]:
    """Store the files of a result; return what the model is told, and what was kept.

    Raises:
        StorageError: if they cannot be stored.
    """
    if not isinstance(manager, SessionStore):
        lines = [_left_out(file, "files cannot be kept here") for file in output.files]
        return "\n".join([output.text, *lines]), ()
    kept: list[Attachment] = []
    lines = []
    for file in output.files:
        if why := _refusal(file, len(kept)):
            lines.append(_left_out(file, why))
        else:
            kept.append(file.kept(await manager.put_blob(file.data)))
            lines.append(f"[The people here are shown the file {kept[-1].name}.]")
    return "\n".join([output.text, *lines]), tuple(kept)


def _left_out(file: File, why: str) -> str:
    return f"[Nobody is shown the file {safe_name(file.name)}: {why}.]"


def _refusal(file: File, before: int) -> str:
    if not file.data:
        return "it is empty"
    if before == MAX_FILES:
        return f"one call may show {MAX_FILES}"
    return "it is too large" if len(file.data) > MAX_BYTES else ""
