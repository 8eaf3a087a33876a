"""A short storm; `python -m benchmarks.chaos` is the long one."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.crash.chaos import Weather, storm
from tests.postgres import Server

SHORT = Weather(seconds=15, channels=6, people=4, pause=4, trouble=0.4, disconnects=5, kills=5)


@pytest.mark.timeout(300)
async def test_in_bad_weather_every_message_has_one_answer_and_every_call_runs_once(
    tmp_path: Path,
) -> None:
    damage = await storm(tmp_path, SHORT)
    assert damage.wrong == [], "\n\n".join(damage.seen)
    assert damage.kills >= 2
    assert damage.messages >= 15


@pytest.mark.timeout(300)
async def test_so_it_is_with_postgresql(tmp_path: Path, postgres: Server) -> None:
    damage = await storm(tmp_path, replace(SHORT, seconds=10, seed=1), postgres.settings)
    assert damage.wrong == [], "\n\n".join(damage.seen)
    assert damage.kills >= 1
    assert damage.messages >= 8
