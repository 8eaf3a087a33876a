from __future__ import annotations

from bot.events import Usage


def test_what_neither_report_told_stays_untold() -> None:
    total = Usage(input_tokens=1, output_tokens=2) + Usage(input_tokens=3)
    assert total == Usage(input_tokens=4, output_tokens=2, cached_tokens=None)
