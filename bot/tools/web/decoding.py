"""The bytes of a page made into text."""

from __future__ import annotations

import codecs
import re
import zlib

from bot.errors import ToolError
from bot.tools.web.browser import MAX_BYTES, Fetched

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,500}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w:.-]{1,40})", re.I
)
_OF_TEXT = re.compile(
    r"utf-(8|16|32)|iso8859|iso2022|cp\d|koi8|gb|big5|shift_jis|euc_|mac-|ascii|tis-"
)
"""What Python has besides can be slow, or is no character set."""
_AS_BROWSERS = {"iso8859-1": "cp1252", "ascii": "cp1252"}


def decoded(fetched: Fetched) -> tuple[str, bool]:
    """Return a page's text, and whether something at its end is missing.

    Raises:
        ToolError: if it cannot be unpacked.
    """
    body, cut = _unpacked(fetched)
    for bom, name in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(name, "replace"), cut
    return body.decode(_charset(fetched.charset, body), "replace"), cut


def _unpacked(fetched: Fetched) -> tuple[bytes, bool]:
    """Return the body as it was before it was packed, up to the limit: some grow a thousandfold."""
    if fetched.encoding in ("", "identity"):
        return fetched.body, fetched.cut
    if fetched.encoding not in ("gzip", "x-gzip"):
        raise ToolError("The page is packed in a way that was not asked for.")
    unpacking = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        body = unpacking.decompress(fetched.body, MAX_BYTES)
    except zlib.error as exc:
        raise ToolError("The page is damaged.") from exc
    return body, not unpacking.eof


def _charset(told: str, body: bytes) -> str:
    """Return the name of a character set: the server's, else the page's own, else UTF-8."""
    meta = _META.search(body, 0, 2048)
    for name in (told, meta[1].decode("ascii", "replace") if meta else ""):
        try:
            known = codecs.lookup(name).name
        except (LookupError, ValueError):
            continue
        if _OF_TEXT.match(known):
            return _AS_BROWSERS.get(known, known)
    return "utf-8"
