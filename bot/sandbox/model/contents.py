"""Refusing messages that a real service refuses (API reference, "Create chat completion")."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

_ROLES = {"system", "developer", "user", "assistant", "tool"}
_URL = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,(.*)", re.DOTALL)
_BEGINNINGS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}


def problems(request: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a request's messages."""
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        return ["messages: at least one is needed"]
    return [
        f"messages[{number}]: {problem}"
        for number, message in enumerate(messages)
        for problem in _of_message(message)
    ]


def images(request: Mapping[str, Any]) -> list[bytes]:
    """Return the images of a request, decoded, in their order."""
    contents = (message.get("content") for message in request["messages"])
    parts = (part for content in contents if isinstance(content, list) for part in content)
    urls = (_URL.fullmatch(part["image_url"]["url"]) for part in parts if "image_url" in part)
    return [base64.b64decode(url[2]) for url in urls if url]


def _of_message(message: object) -> Iterator[str]:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        yield "no role that there is"
        return
    content, role = message.get("content"), message["role"]
    if isinstance(content, list):
        if not content:
            yield "content: an empty list"
        for number, part in enumerate(content):
            for problem in _of_part(part, role):
                yield f"content[{number}]: {problem}"
    elif not isinstance(content, str) and not (role == "assistant" and content is None):
        yield "content: neither a text nor a list"


def _of_part(part: object, role: str) -> Iterator[str]:
    match part:
        case {"type": "text", "text": str(text)}:
            if not text:
                yield "an empty text"
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            if role != "user":
                yield f"an image from {role}"
            yield from _of_url(url)
        case _:
            yield "no part that there is"


def _of_url(url: str) -> Iterator[str]:
    if url.startswith(("https://", "http://")):
        return
    found = _URL.fullmatch(url)
    if found is None:
        yield "image_url: no image that is read"
        return
    try:
        data = base64.b64decode(found[2], validate=True)
    except binascii.Error:
        yield "image_url: no base64"
        return
    if not data.startswith(_BEGINNINGS[found[1]]):
        yield f"image_url: no {found[1]}"
