"""Text files of any encoding, and what is none."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.frontend.reading.content import LONGEST, UnreadableError
from bot.frontend.reading.texts import as_text, decoded

GERMAN = "Grüße aus Köln: es wäre schön, wenn die Straße überall größer wäre.\n" * 5
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю.\n" * 5
JAPANESE = "これは日本語の文章です。文字コードを正しく判定できるか試します。\n" * 5


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", ["hello\r\n\tyou", GERMAN, RUSSIAN, JAPANESE])
def test_text_in_unicode_is_read(text: str, encoding: str) -> None:
    assert decoded(text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_text_needs_no_mark(encoding: str) -> None:
    assert decoded(GERMAN.encode(encoding)) == GERMAN


@pytest.mark.parametrize(
    ("text", "encoding"), [(GERMAN, "latin-1"), (RUSSIAN, "cp1251"), (JAPANESE, "shift_jis")]
)
def test_old_encodings_are_guessed(text: str, encoding: str) -> None:
    assert decoded(text.encode(encoding)) == text


def test_a_long_text_is_guessed_from_its_beginning() -> None:
    text = RUSSIAN * 300
    assert decoded(text.encode("cp1251")) == text


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04\x14\x00\x00\x00\x08\x00abc",
        b"\x7fELF\x02\x01\x01\x00\x00",
        bytes(range(256)) * 4,
        b"\x01\x02\x03",
        codecs.BOM_UTF16_LE + b"\x00\xd8",
        b"a\0b\0c\0" + b"\x00\xd8",
    ],
)
def test_what_is_binary_is_no_text(data: bytes) -> None:
    assert decoded(data) is None


@given(st.binary(max_size=300))
def test_any_bytes_are_text_or_not(data: bytes) -> None:
    text = decoded(data)
    assert text is None or "\0" not in text


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_any_text_in_utf_8_comes_back(text: str) -> None:
    assert decoded(text.encode()) == text.removeprefix("\ufeff")


def test_a_long_text_is_cut_and_that_is_told() -> None:
    content = as_text(("ä" * LONGEST + "b").encode())
    assert content.data.decode() == "ä" * LONGEST
    assert content.read == "the first 100,000 characters"
    assert as_text(b"x" * LONGEST).read == ""


@pytest.mark.parametrize("data", [b"", b" \n", codecs.BOM_UTF8])
def test_nothing_is_no_text(data: bytes) -> None:
    with pytest.raises(UnreadableError, match="it is empty"):
        as_text(data)


def test_bytes_that_say_nothing_are_no_text() -> None:
    with pytest.raises(UnreadableError, match="neither a text"):
        as_text(b"\0\1")
