"""How many tokens a request has: measured by what the service reported, else estimated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BYTES_PER_TOKEN = 3.0
"""Before anything was reported. English has four to five, code three, Chinese three to four."""
FEWEST, MOST = 1.0, 8.0
"""No service counts less or more bytes to a token, whatever it reports."""
IMAGE = 4_500
"""What an image is taken for, in bytes: its own say nothing of its tokens, mostly under 1,500."""
SAMPLE = 20_000
"""Characters that are enough to count how dense a conversation's tokens are."""
_EMBEDDED = frozenset({"image_url", "input_audio", "file"})
_BESIDE = 4


@dataclass(frozen=True, slots=True)
class Scale:
    """How many bytes of a request make a token."""

    bytes_per_token: float = BYTES_PER_TOKEN

    @classmethod
    def measured(cls, size: int, tokens: int) -> Scale:
        """Return the scale of a request of `size` bytes for which `tokens` were reported."""
        return cls(min(MOST, max(FEWEST, size / tokens)))

    def tokens(self, size: int) -> int:
        """Return how many tokens so many bytes have, rounded up."""
        return int(-(-size // self.bytes_per_token))

    def size(self, tokens: float) -> int:
        """Return how many bytes so many tokens have."""
        return int(tokens * self.bytes_per_token)


DEFAULT = Scale()


@dataclass(frozen=True, slots=True)
class Report:
    """The service's count of an earlier request, of which this one is a continuation.

    Attributes:
        messages: How many messages that request had.
        tokens: How many tokens it was.
    """

    messages: int
    tokens: int


def measure(
    messages: Sequence[Mapping[str, Any]],
    *,
    beside: int = 0,
    report: Report | None = None,
    scale: Scale = DEFAULT,
) -> tuple[int, Scale]:
    """Return how many tokens a request has, and by which scale.

    Args:
        messages: The request's.
        beside: Bytes of what is sent beside them, the tools above all.
        report: What is known for its beginning.
        scale: The one to go by where there is no report.
    """
    if report is None:
        return scale.tokens(beside + size_of(messages)), scale
    before = beside + size_of(messages[: report.messages])
    scale = Scale.measured(before, report.tokens)
    known = max(report.tokens, scale.tokens(before))
    return known + scale.tokens(size_of(messages[report.messages :])), scale


def size_of(value: object) -> int:
    """Return how many bytes of text a part of a request has, with a little for each value."""
    match value:
        case str():
            return _BESIDE + (len(value) if value.isascii() else len(_encoded(value)))
        case Mapping():
            if value.get("type") in _EMBEDDED:
                return IMAGE
            return sum(size_of(each) for each in value.values()) + _BESIDE * len(value)
        case list() | tuple():
            return sum(size_of(each) for each in value)
        case _:
            return _BESIDE


def sample_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return some of the latest text of a request, to count its tokens."""
    texts: list[str] = []
    free = SAMPLE
    for message in reversed(messages):
        content = message.get("content")
        if isinstance(content, str) and free > 0:
            texts.append(content[:free])
            free -= len(content)
    return "\n".join(texts)


def cut(text: str, size: int) -> str:
    """Return as much of the beginning of a text as has at most so many bytes, never nothing."""
    if len(text) * 4 <= size:
        return text
    return _encoded(text[:size])[:size].decode(errors="ignore") or text[:1]


def _encoded(text: str) -> bytes:
    return text.encode(errors="replace")
