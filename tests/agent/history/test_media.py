"""A file's kind is told by its bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.history.media import image_type, is_pdf


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n...", "image/png"),
        (b"\xff\xd8\xff\xe0...", "image/jpeg"),
        (b"GIF87a...", "image/gif"),
        (b"GIF89a...", "image/gif"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"RIFF\x10\x00\x00\x00WAVEfmt ", None),
        (b"<svg/>", None),
    ],
)
def test_images_are_told_by_how_they_begin(data: bytes, kind: str | None) -> None:
    assert image_type(data) == kind


@given(st.binary())
def test_any_bytes_have_at_most_one_kind(data: bytes) -> None:
    assert not (image_type(data) and data.startswith(b"%PDF-") and is_pdf(data))


def test_a_pdf_may_begin_with_empty_lines() -> None:
    assert is_pdf(b"\n\n%PDF-1.7")
    assert not is_pdf(b"A text about %PDF-1.7")
    assert not is_pdf(b" " * 2000 + b"%PDF-1.7")
