"""Counting tokens as OpenAI's models do, where tiktoken is installed and knows the model."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Protocol

logger = logging.getLogger(__name__)


class Encoding(Protocol):
    """What is used of tiktoken's."""

    def encode_ordinary(self, text: str) -> list[int]:
        """Return a text's tokens."""
        ...


def tiktoken_encoding(model: str) -> Encoding:
    """Return tiktoken's encoding for a model; it may be downloaded.

    Raises:
        ImportError: if tiktoken is not installed.
        KeyError: if it does not know the model.
        OSError: if the encoding cannot be had.
    """
    import tiktoken

    return tiktoken.encoding_for_model(model.rpartition("/")[2])


class Tokenizer:
    """Counts as soon as the encoding is there; nobody ever waits for it."""

    def __init__(self, model: str, load: Callable[[str], Encoding] = tiktoken_encoding) -> None:
        self._model = model
        self._load = load
        self._encoding: Encoding | None = None
        self._loading: threading.Thread | None = None

    async def count(self, text: str) -> int | None:
        """Return how many tokens a text has, or `None` while or where that is not known."""
        if self._loading is None:
            # A daemon: a download that hangs keeps no process from ending.
            self._loading = threading.Thread(target=self._run, name="tokenizer", daemon=True)
            self._loading.start()
        if self._encoding is None:
            return None
        return len(await asyncio.to_thread(self._encoding.encode_ordinary, text))

    def _run(self) -> None:
        try:
            self._encoding = self._load(self._model)
        except Exception as exc:  # noqa: BLE001 - whatever it is, tokens are estimated without
            logger.info("tokens are not counted by tiktoken (%s)", type(exc).__name__)
