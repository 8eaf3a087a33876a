"""Counting tokens by tiktoken, where it is there, and going without where it is not."""

from __future__ import annotations

import threading

import pytest
import tiktoken

from bot.providers import Provider
from bot.providers.tokenizer import Encoding, Tokenizer, tiktoken_encoding


def bytes_encoding(model: str) -> Encoding:
    """Make a real encoding that needs no download: a token a byte, and one for "the"."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257}
    return tiktoken.Encoding(
        model, pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens={"<|end|>": 258}
    )


async def loaded(tokenizer: Tokenizer) -> None:
    """Let it load, and wait for that."""
    await tokenizer.count("")
    for thread in threading.enumerate():
        if thread.name == "tokenizer":
            thread.join(10)


async def test_it_counts_once_the_encoding_is_there() -> None:
    tokenizer = Tokenizer("m", bytes_encoding)
    await loaded(tokenizer)
    assert await tokenizer.count("the cat") == 1 + 1 + 3
    assert await tokenizer.count("<|end|>") == 7


async def test_nobody_waits_while_it_is_loaded() -> None:
    begun, release = threading.Event(), threading.Event()

    def slow(model: str) -> Encoding:
        begun.set()
        release.wait(10)
        return bytes_encoding(model)

    tokenizer = Tokenizer("m", slow)
    assert await tokenizer.count("hi") is None
    assert begun.wait(10)
    assert await tokenizer.count("hi") is None
    release.set()
    await loaded(tokenizer)
    assert await tokenizer.count("hi") == 2


@pytest.mark.parametrize("error", [ImportError, KeyError, OSError])
async def test_without_an_encoding_nothing_is_counted(error: type[Exception]) -> None:
    def fails(model: str) -> Encoding:
        raise error(model)

    tokenizer = Tokenizer("m", fails)
    await loaded(tokenizer)
    assert await tokenizer.count("hi") is None


def test_a_model_that_tiktoken_does_not_know_has_none() -> None:
    with pytest.raises(KeyError):
        tiktoken_encoding("some/unknown-model")


async def test_a_provider_counts_as_its_tokenizer_does() -> None:
    provider = Provider(model="unknown", api_key="key", base_url="http://127.0.0.1:9/v1")
    assert await provider.count_tokens("hi") is None
    await provider.close()
