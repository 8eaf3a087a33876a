"""Images, made as small as a model needs them."""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from bot.frontend.reading.content import UnreadableError
from bot.frontend.reading.files import understood
from bot.frontend.reading.images import LONGEST_SIDE, MOST_BYTES, prepared
from tests.frontend.reading.samples import noise, picture

BEGINNINGS = [
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF89a",
    b"RIFF\x10\0\0\0WEBP",
    b"%PDF-1.4\n",
]


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_small_image_is_kept_byte_for_byte(kind: str) -> None:
    data = picture(kind)
    assert prepared(data).data == data
    assert prepared(data).media_type == f"image/{kind.lower()}"


@pytest.mark.parametrize(
    ("kind", "mode", "made"),
    [
        ("JPEG", "RGB", "image/jpeg"),
        ("JPEG", "L", "image/jpeg"),
        ("JPEG", "CMYK", "image/jpeg"),
        ("PNG", "RGB", "image/png"),
        ("PNG", "RGBA", "image/png"),
        ("PNG", "P", "image/png"),
        ("PNG", "I;16", "image/png"),
        ("WEBP", "RGB", "image/png"),
        ("GIF", "P", "image/png"),
    ],
)
def test_a_large_one_is_scaled_down(kind: str, mode: str, made: str) -> None:
    content = prepared(picture(kind, (3000, 1500), mode))
    assert content.media_type == made
    assert opened(content.data).size == (LONGEST_SIDE, LONGEST_SIDE // 2)


def test_a_photo_is_turned_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees
    for size in ((40, 20), (4000, 2000)):
        made = opened(prepared(picture("JPEG", size, exif=exif)).data)
        assert made.width < made.height
        assert made.getexif().get(0x0112, 1) == 1


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_of_a_moving_picture_the_first_is_taken(kind: str) -> None:
    second = Image.new("RGB", (8, 6), "red")
    data = picture(kind, save_all=True, append_images=[second])
    content = prepared(data)
    made = opened(content.data)
    assert content.media_type == "image/png"
    assert not getattr(made, "is_animated", False)
    assert made.convert("RGB").getpixel((0, 0)) != (255, 0, 0)


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_what_stays_too_heavy_is_packed_as_a_photo(mode: str) -> None:
    heavy = opened(noise((1500, 1500), "PNG")).convert(mode)
    file = io.BytesIO()
    heavy.save(file, "PNG")
    content = prepared(file.getvalue())
    assert content.media_type == "image/jpeg"
    assert len(content.data) <= MOST_BYTES


def huge_png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + check

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [9_000, 60_000])
def test_a_trap_is_not_unpacked(side: int) -> None:
    with pytest.raises(UnreadableError, match="too many pixels"):
        prepared(huge_png(side, side))


@pytest.mark.parametrize("data", [picture("PNG", (100, 100))[:-30], b"\xff\xd8\xffnothing"])
def test_a_damaged_one_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError, match="it is damaged"):
        prepared(data)


@given(st.sampled_from([b"", *BEGINNINGS]), st.binary(max_size=200))
def test_any_bytes_are_understood_or_refused(beginning: bytes, rest: bytes) -> None:
    with suppress(UnreadableError):
        assert understood(beginning + rest).data


@given(st.sampled_from(["PNG", "JPEG", "GIF", "WEBP"]), st.data())
def test_a_changed_image_is_understood_or_refused(kind: str, data: st.DataObject) -> None:
    image = bytearray(picture(kind, (30, 30)))
    for _ in range(5):
        at = data.draw(st.integers(0, len(image) - 1))
        image[at] = data.draw(st.integers(0, 255))
    with suppress(UnreadableError):
        assert understood(bytes(image)).data
