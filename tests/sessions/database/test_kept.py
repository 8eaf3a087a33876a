from __future__ import annotations

from bot.events import RecordedEvent
from bot.sessions.database.kept import KeptEvents
from tests.sessions.samples import says


def run(first: int, last: int) -> tuple[RecordedEvent, ...]:
    return tuple(says().placed(seq, "t") for seq in range(first, last + 1))


def test_the_least_recently_used_is_forgotten_first() -> None:
    kept = KeptEvents(limit=6)
    kept.keep("a", "then", run(1, 2))
    kept.keep("b", "then", run(1, 2))
    kept.keep("a", "then", run(1, 2))
    kept.keep("c", "then", run(1, 4))
    assert [bool(kept.of(name)[1]) for name in "abc"] == [True, False, True]


def test_what_is_too_long_is_not_kept() -> None:
    kept = KeptEvents(limit=3)
    kept.keep("a", "then", run(1, 4))
    assert kept.of("a") == ("", ())


def test_a_late_reader_does_not_shorten_what_is_kept() -> None:
    kept = KeptEvents()
    kept.keep("a", "then", run(1, 3))
    kept.keep("a", "then", run(1, 2))
    assert len(kept.of("a")[1]) == 3


def test_only_what_follows_is_added() -> None:
    kept = KeptEvents()
    kept.extend("a", "then", run(1, 2))
    kept.keep("a", "then", run(1, 2))
    kept.extend("a", "then", run(4, 5))
    kept.extend("a", "now", run(3, 5))
    kept.extend("a", "then", ())
    assert len(kept.of("a")[1]) == 2
    kept.extend("a", "then", run(3, 5))
    assert len(kept.of("a")[1]) == 5


def test_what_lies_before_the_window_is_not_kept() -> None:
    kept = KeptEvents(limit=10)
    kept.keep("a", "then", run(1, 8))
    kept.extend("a", "then", run(9, 9), 7)
    assert [event.seq for event in kept.of("a")[1]] == [7, 8, 9]
    kept.keep("b", "then", run(1, 7))
    assert kept.of("a")[1]
