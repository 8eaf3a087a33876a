"""The words of a text, for search: the same in every engine, and in every script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

MOST = 64
"""Words of one text that are looked at."""

_COMMON = frozenset(
    re.findall(
        r"\w+",
        "an and are as at be but by can could did do does for from had has have he her his how if "
        "in is it its me my not of on or our she should so that the their them they this to us was "
        "we were what when where which who why will with would you your please",
    )
)
"""English words that say nothing of what a text is about."""

_WORD = re.compile(r"[^\W_]+")
# Scripts that are written without blanks between words: Han, Kana, Thai, Lao, Khmer, Burmese.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)


def words(text: str) -> Sequence[str]:
    """Return a text's words, each once, in their order: folded, and without accents.

    What is written without blanks gives each two neighbours as a word.
    """
    folded = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(each for each in folded if not unicodedata.combining(each))
    plain = unicodedata.normalize("NFC", bare)
    found = (part for match in _WORD.finditer(plain) for part in _parts(match[0]))
    return tuple(dict.fromkeys(found))[:MOST]


def _parts(run: str) -> Iterator[str]:
    at = 0
    for match in _UNSPACED.finditer(run):
        yield from _spaced(run[at : match.start()])
        yield from _pairs(match[0])
        at = match.end()
    yield from _spaced(run[at:])


def _spaced(word: str) -> Iterator[str]:
    if (len(word) > 1 or word.isdigit()) and word not in _COMMON:
        yield word


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for first, second in pairwise(run):
        yield first + second
