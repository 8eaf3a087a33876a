"""The files of a history: what they hold, put in right before a request is sent."""

from __future__ import annotations

import asyncio
import base64
from collections import OrderedDict
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from bot.agent.history.media import image_type
from bot.agent.history.messages import Message
from bot.agent.history.said import BLOB, Part, attached, safe_name, text_part
from bot.agent.history.untrusted import inert
from bot.events import Attachment
from bot.sessions import SessionManager, SessionStore

MOST_IMAGES = 50  # of one request, and how many characters they are: services refuse more
MOST_IMAGE_CHARACTERS = 18_000_000
LARGEST_IMAGE = 8 * 1024 * 1024
MOST_CHARACTERS = 200_000  # of one file
KEPT = 64 * 1024 * 1024  # characters of what was made ready, for the next request
PIECE = 3 * 2**16  # bytes that are encoded at once; with a multiple of three nothing is padded
LARGE = 100_000  # bytes from which on a thread makes it ready

Ready = tuple[str, str]
"""`text` or `image`, and what goes to the service: a text without marks, or a `data:` URL."""


class _Room:
    """What of a request is left for images."""

    def __init__(self) -> None:
        self._images, self._characters = MOST_IMAGES, MOST_IMAGE_CHARACTERS

    def takes(self, url: str) -> bool:
        """Whether one more fits in; after the first that does not, none does."""
        self._images -= 1
        self._characters -= len(url)
        return self._images >= 0 and self._characters >= 0


class Attachments:
    """Reads files from the store; one that is gone, or that no model reads, is only named.

    The same history gives the same bytes each time, as long as the files are there. Of more images
    than services take the latest are shown.

    Attributes:
        sees_images: Whether the model reads images.
    """

    def __init__(self, manager: SessionManager, *, sees_images: bool = True) -> None:
        self.sees_images = sees_images
        self._store = manager if isinstance(manager, SessionStore) else None
        self._kept: OrderedDict[str, Ready] = OrderedDict()
        self._size = 0

    async def resolved(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Return messages as the Chat Completions API knows them.

        Raises:
            StorageError: if a file cannot be read.
        """
        room = _Room()
        latest_first = [await self._message(each, room) for each in reversed(messages)]
        return latest_first[::-1]

    async def _message(self, message: Message, room: _Room) -> Message:
        content = message.get("content")
        if not isinstance(content, list):
            return message
        parts = [each for part in content for each in await self._parts(part, room)]
        return message | {"content": _joined(parts)}

    async def _parts(self, part: Part, room: _Room) -> Sequence[Part]:
        if part["type"] != BLOB:
            return [part]
        file = Attachment(sha256=part["sha256"], media_type=part["media_type"], name=part["name"])
        ready = await self._ready(file)
        name = safe_name(file.name)
        match ready:
            case ("text", text):
                return [text_part(f"[file {name}]\n{text}\n[end of file {name}]")]
            case ("image", url) if self.sees_images and room.takes(url):
                image = {"type": "image_url", "image_url": {"url": url}}
                return [text_part(f"[image {name}]"), image]
            case _:
                return [text_part(attached(file))]

    async def _ready(self, file: Attachment) -> Ready | None:
        if kept := self._kept.get(file.sha256):
            self._kept.move_to_end(file.sha256)
            return kept
        data = await self._store.get_blob(file.sha256) if self._store else None
        if data is None:
            return None
        ready = await asyncio.to_thread(_made, data) if len(data) > LARGE else _made(data)
        if ready is not None:
            self._keep(file.sha256, ready)
        return ready

    def _keep(self, sha256: str, ready: Ready) -> None:
        _, before = self._kept.pop(sha256, ("", ""))  # another run may have made it meanwhile
        self._kept[sha256] = ready
        self._size += len(ready[1]) - len(before)
        while self._size > KEPT:
            _, (_, oldest) = self._kept.popitem(last=False)
            self._size -= len(oldest)


def _made(data: bytes) -> Ready | None:
    """Return what of a file a service reads; `None` for nothing."""
    kind = image_type(data)
    if kind is not None:
        return ("image", _url(kind, data)) if len(data) <= LARGEST_IMAGE else None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    rest = "" if len(text) <= MOST_CHARACTERS else "\n[note: the rest of the file is left out]"
    return "text", f"{inert(text[:MOST_CHARACTERS])}{rest}"


def _url(kind: str, data: bytes) -> str:
    """Return an image as a `data:` URL; done as one it would hold up the event loop."""
    pieces = (data[at : at + PIECE] for at in range(0, len(data), PIECE))
    encoded = [base64.b64encode(piece).decode() for piece in pieces]
    return "".join([f"data:{kind};base64,", *encoded])


def _joined(parts: Sequence[Part]) -> str | list[dict[str, Any]]:
    """Join texts that follow each other; where there is nothing else they are one text."""
    joined: list[Part] = []
    for kind, several in groupby(parts, key=lambda part: part["type"]):
        if kind == "text":
            joined.append(text_part("\n".join(part["text"] for part in several)))
        else:
            joined += several
    only_text = [part["type"] for part in joined] == ["text"]
    return str(joined[0]["text"]) if only_text else joined
