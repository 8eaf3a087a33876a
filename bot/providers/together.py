"""Pieces of a text that came together are told as one: each costs everybody behind it a step."""

from __future__ import annotations

from collections.abc import Iterator

from bot.agent.model.service import ReasoningDelta, TextDelta
from bot.errors import ModelError
from bot.providers.assemble import Delta


def together(deltas: Iterator[Delta]) -> Iterator[Delta]:
    """Give deltas, those of one text that follow each other as one; those before an error too."""
    pieces: list[str] = []
    kind: type[TextDelta | ReasoningDelta] = TextDelta
    failure: ModelError | None = None
    try:
        for delta in deltas:
            if pieces and not isinstance(delta, kind):
                yield kind("".join(pieces))
                pieces.clear()
            if isinstance(delta, TextDelta | ReasoningDelta):
                kind = type(delta)
                pieces.append(delta.text)
            else:
                yield delta
    except ModelError as error:
        failure = error
    if pieces:
        yield kind("".join(pieces))
    if failure is not None:
        raise failure
