"""PDFs as text."""

from __future__ import annotations

import io
from contextlib import suppress

import pypdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.frontend.reading.content import UnreadableError
from bot.frontend.reading.pdfs import MOST_PAGES, pdf_text
from tests.frontend.reading.samples import pdf


def encrypted(password: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf("secret")))
    writer.encrypt(password, algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def test_the_pages_are_read_in_their_order() -> None:
    content = pdf_text(pdf("one\nmore", "two"))
    assert content.data == b"one\nmore\n\ntwo"
    assert (content.media_type, content.read) == ("text/plain", "")


def test_of_a_long_one_the_first_pages_are_read() -> None:
    content = pdf_text(pdf(*["page"] * (MOST_PAGES + 1)))
    assert content.read == f"the first {MOST_PAGES} pages"


def test_of_a_wordy_one_the_beginning_is_read() -> None:
    line = "words " * 100
    content = pdf_text(pdf(*["\n".join([line] * 100)] * 5))
    assert content.read == "the first 100,000 characters"
    assert len(content.data) == 100_000


def test_reading_ends_when_its_time_is_over() -> None:
    with pytest.raises(UnreadableError, match="too long"):
        pdf_text(pdf("one"), seconds=-1)


def test_one_that_anybody_may_open_is_read() -> None:
    assert pdf_text(encrypted("")).data == b"secret"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (encrypted("key"), "encrypted"),
        (pdf("")[:300], "damaged"),
        (b"%PDF-1.4 nothing", "damaged"),
        (pdf(""), "no text"),
    ],
)
def test_what_cannot_be_read_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        pdf_text(data)


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_a_changed_pdf_is_read_or_refused(data: st.DataObject) -> None:
    changed = bytearray(pdf("one", "two"))
    for _ in range(5):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    with suppress(UnreadableError):
        pdf_text(bytes(changed))
