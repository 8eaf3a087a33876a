"""PDFs as text."""

from __future__ import annotations

import io
import logging
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bot.frontend.reading.content import LONGEST, Content, UnreadableError, text_content

if TYPE_CHECKING:
    from pypdf import PdfReader

MOST_PAGES = 200
MOST_SECONDS = 15.0


class _TimeOverError(Exception):
    """Reading has taken too long."""


def pdf_text(data: bytes, *, seconds: float = MOST_SECONDS) -> Content:
    """Return the text of a PDF, of its first pages if it is long.

    Raises:
        UnreadableError: if it is damaged or encrypted, or has no text.
    """
    import pypdf
    from pypdf.errors import DependencyError, FileNotDecryptedError

    # It logs what it finds odd in a file, which may be what is written there.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableError("it is encrypted")
        return _read(reader, time.monotonic() + seconds)
    except UnreadableError:
        raise
    except (DependencyError, FileNotDecryptedError) as exc:
        raise UnreadableError("it is encrypted") from exc
    except Exception as exc:  # a damaged file can make it raise anything
        raise UnreadableError("it is damaged") from exc


def _read(reader: PdfReader, until: float) -> Content:
    count, pages, length = len(reader.pages), [], 0
    for text in _texts(reader, until):
        pages.append(text)
        length += len(text)
        if length > LONGEST:
            break
    text = "\n\n".join(page for page in pages if page)
    if not text and len(pages) < min(count, MOST_PAGES):
        raise UnreadableError("it takes too long")
    if not text:
        raise UnreadableError("there is no text in it, perhaps pictures of text")
    return text_content(text, "" if len(pages) == count else f"the first {len(pages)} pages")


def _texts(reader: PdfReader, until: float) -> Iterator[str]:
    def look_at_the_clock(*_: object) -> None:
        if time.monotonic() > until:
            raise _TimeOverError

    for number in range(min(len(reader.pages), MOST_PAGES)):
        try:
            look_at_the_clock()
            text = reader.pages[number].extract_text(visitor_operand_before=look_at_the_clock)
        except _TimeOverError:
            return
        yield text.strip()
