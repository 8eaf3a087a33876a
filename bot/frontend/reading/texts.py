"""Text files of any encoding."""

from __future__ import annotations

import codecs

from bot.frontend.reading.content import LONGEST, Content, UnreadableError, text_content

_BOMS = (  # the longer first: UTF-32's little-endian one begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ENOUGH = 4 * (LONGEST + 1)  # bytes for as many characters as are kept, and one more
_SAMPLE = 50_000  # bytes from which an encoding is guessed
_CONTROLS = bytes({*range(32)} - {*b"\t\n\v\f\r\x1b"})
_MOST_CONTROLS = 0.005  # of all bytes: text has hardly any, whatever its encoding


def as_text(data: bytes) -> Content:
    """Return a file as text in UTF-8.

    Raises:
        UnreadableError: if it is no text.
    """
    text = decoded(data)
    if text is None:
        raise UnreadableError("it is neither a text, an image nor a PDF")
    if not text.strip():
        raise UnreadableError("it is empty")
    return text_content(text)


def decoded(data: bytes) -> str | None:
    """Return the text that some bytes are, or begin with; `None` if they are none."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _strictly(data, encoding)
    if b"\0" in data:
        wide = _wide(data[:_ENOUGH])
        return _strictly(data, wide) if wide else None
    return _strictly(data, "utf-8") or _guessed(data)


def _strictly(data: bytes, encoding: str) -> str | None:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        text = decoder.decode(data[:_ENOUGH], final=len(data) <= _ENOUGH)
    except UnicodeDecodeError:
        return None
    return None if _is_binary(text.encode(errors="replace")) else text


def _wide(data: bytes) -> str | None:
    """Return the kind of UTF-16 without a mark in which every second byte tends to be zero."""
    half = len(data) // 2
    if data[1::2].count(0) > 0.4 * half:
        return "utf-16-le"
    return "utf-16-be" if data[0::2].count(0) > 0.4 * half else None


def _guessed(data: bytes) -> str | None:
    if _is_binary(data[:_ENOUGH]):
        return None
    from charset_normalizer import from_bytes

    sample = data[:_SAMPLE]
    if len(sample) < len(data):  # not in the middle of a character
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    best = from_bytes(sample).best()
    return None if best is None else data[:_ENOUGH].decode(best.encoding, errors="replace")


def _is_binary(data: bytes) -> bool:
    controls = len(data) - len(data.translate(None, _CONTROLS))
    return b"\0" in data or controls > _MOST_CONTROLS * len(data)
