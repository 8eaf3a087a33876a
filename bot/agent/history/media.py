"""What a file is, told by its first bytes: names and announced types are often wrong."""

from __future__ import annotations


def image_type(data: bytes) -> str | None:
    """Return the media type of an image of a kind that models read, else `None`."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def is_pdf(data: bytes) -> bool:
    """Whether this is a PDF; some begin with empty lines."""
    return data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n\0").startswith(b"%PDF-")
