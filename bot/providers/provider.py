"""A model behind the OpenAI protocol."""

from __future__ import annotations

import asyncio
import copy
import itertools
import logging
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bot.agent.model.service import ModelEvent, ModelRequest, Reported, Retrying
from bot.errors import ModelError, ModelUnavailableError
from bot.providers.assemble import Assembler, Delta
from bot.providers.crowd import Crowd
from bot.providers.presets import ProviderType
from bot.providers.retry import RetryPolicy
from bot.providers.settings import checked
from bot.providers.sse import END, Chunk, EventReader
from bot.providers.together import together
from bot.providers.tokenizer import Tokenizer
from bot.providers.windows import known_window, tells_of_models, told_window

if TYPE_CHECKING:
    import openai

logger = logging.getLogger(__name__)

_REST = 0.2
"""Seconds to read what follows the end of an answer, so that the connection can be used again."""


class Provider:
    """A model service, implementing the agent's `Model`.

    Args:
        provider_type: chooses the base URL and the service's ways.
        model: the model's name; for Azure the deployment's.
        api_key: never shown or logged.
        base_url: up to and including `/v1`; for Azure the resource's endpoint.
        connect_timeout: seconds to reach the service.
        idle_timeout: seconds without a byte; there is no limit to the whole answer.
        max_attempts: how often a request is sent at most, before anything of an answer came.
        retry: all of how to retry, instead of `max_attempts`.
        extra_body: sent with each request, for example `{"temperature": 0.2}`.
        headers: sent with each request.
        api_version: Azure's.

    Raises:
        ConfigError: something is missing or wrong.
    """

    def __init__(
        self,
        provider_type: ProviderType = ProviderType.OPENAI_COMPATIBLE,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        connect_timeout: float = 10.0,
        idle_timeout: float = 300.0,
        max_attempts: int = 4,
        retry: RetryPolicy | None = None,
        extra_body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        api_version: str = "2024-10-21",
    ) -> None:
        self._settings = checked(
            ProviderType(provider_type),
            base_url=base_url,
            api_key=api_key,
            model=model,
            connect_timeout=connect_timeout,
            idle_timeout=idle_timeout,
            extra_body=dict(extra_body or {}),
            headers=dict(headers or {}),
            api_version=api_version,
        )
        self._retry = retry or RetryPolicy(max_attempts=max_attempts)
        self._client: openai.AsyncOpenAI | None = None
        self._tokenizer = Tokenizer(self.model)
        self._crowd = Crowd()
        self._opening = threading.Lock()  # held in threads only
        self._others: dict[str, Provider] = {}

    def __repr__(self) -> str:
        return f"Provider({self._settings.provider_type.value!r}, model={self.model!r})"

    @property
    def model(self) -> str:
        """The model's name, as it is asked for."""
        return self._settings.model

    def named(self, model: str) -> Provider:
        """Return another model of the service, made when first asked for; closed with this one.

        It has connections of its own: some services have an address for each model.
        """
        if model == self.model:
            return self
        if model not in self._others:
            self._others[model] = self._other(model)
        return self._others[model]

    def _other(self, model: str) -> Provider:
        made = copy.copy(self)
        made._settings = replace(self._settings, model=model)
        made._client = None
        made._tokenizer = Tokenizer(model)
        made._opening = threading.Lock()
        made._others = {}
        return made

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer a request: deltas as they come, then one `ModelAnswer`.

        Raises:
            ModelError: one, after bounded retries that happen before the first delta only.
        """
        for attempt in itertools.count(1):
            shown = False
            try:
                async with aclosing(self._attempt(request)) as events:
                    async for event in events:
                        shown = shown or not isinstance(event, Reported)
                        yield event
                return
            except ModelUnavailableError as error:
                delay = None if shown else self._retry.delay(attempt, error.retry_after)
                if delay is None:
                    raise
            yield Retrying(delay)
            await asyncio.sleep(delay)

    async def context_window(self) -> int | None:
        """Return how many tokens the model reads: told by the service, or known by its name.

        Returns `None` where neither is the case; a service that cannot be asked tells nothing.
        """
        for path in tells_of_models(self._settings):
            window = told_window(await self._told(path), self.model)
            if window is not None:
                return window
        return known_window(self.model)

    async def count_tokens(self, text: str) -> int | None:
        """Return how many tokens a text has; `None` where or while nobody can count them here."""
        return await self._tokenizer.count(text)

    async def _told(self, path: str) -> object:
        client = await self._opened()
        from bot.providers import sdk

        failures: tuple[type[Exception], ...] = (*sdk.FAILURES, ValueError)
        try:
            return await sdk.read_json(client, path)
        except failures as error:
            logger.info("the service tells nothing at %s (%s)", path, type(error).__name__)
            return None

    async def close(self) -> None:
        """Close connections; used again, it opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        for other in self._others.values():
            await other.close()

    async def open(self) -> None:
        """Import the SDK now, in a thread, rather than with the first request."""
        await self._opened()

    async def _opened(self) -> openai.AsyncOpenAI:
        if self._client is None:
            return await asyncio.to_thread(self._open)
        return self._client

    def _open(self) -> openai.AsyncOpenAI:
        from bot.providers import sdk

        with self._opening:
            client = self._client or sdk.open_client(self._settings)
            self._client = client
        return client

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        client = await self._opened()
        from bot.providers import sdk

        settings = self._settings
        if request.extra:
            settings = replace(settings, extra_body={**settings.extra_body, **request.extra})
        answer = Assembler(self.model, secret=settings.api_key)
        failure: ModelError | None = None
        try:
            with self._crowd.one_more():
                async with (
                    sdk.response_blocks(
                        client, settings, request.messages, request.tools
                    ) as blocks,
                    aclosing(_deltas(blocks, answer, self._crowd)) as deltas,
                ):
                    async for delta in deltas:
                        yield delta
        except ModelUnavailableError as error:
            failure = error
        except sdk.FAILURES as error:
            failure = sdk.translated(error, settings.api_key)
        # Raised here, it does not carry the SDK's error, whose text may repeat the key.
        if failure is not None and not answer.ended:
            raise failure
        yield answer.finished()


async def _deltas(
    blocks: AsyncIterator[bytes], answer: Assembler, crowd: Crowd
) -> AsyncGenerator[Delta]:
    reader = EventReader()
    async for block in blocks:
        for delta in together(_taken(reader.feed(block), answer)):
            yield delta
        if answer.is_done:
            await _read_rest(blocks)
            return
        await crowd.pause()
    for delta in _taken(reader.feed(END), answer):
        yield delta


def _taken(chunks: Iterator[Chunk], answer: Assembler) -> Iterator[Delta]:
    for chunk in chunks:
        if isinstance(chunk, str):  # the end of the stream
            answer.done()
            return
        yield from answer.add(chunk)


async def _read_rest(blocks: AsyncIterator[bytes]) -> None:
    try:
        async with asyncio.timeout(_REST):
            async for _ in blocks:
                pass
    except TimeoutError:
        pass
