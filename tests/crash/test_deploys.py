"""Two processes of the bot on one shard, as for a while in every deploy."""

from pathlib import Path

import pytest

from tests.crash.chaos import Weather, storm
from tests.postgres import Server

DEPLOYS = Weather(
    seconds=18, channels=5, people=3, pause=4, trouble=2, disconnects=12, kills=6, twins=True
)


@pytest.mark.timeout(300)
async def test_two_processes_answer_everything_once_whichever_is_killed(
    tmp_path: Path, postgres: Server
) -> None:
    damage = await storm(tmp_path, DEPLOYS, postgres.settings)
    assert damage.wrong == [], "\n\n".join(damage.seen)
    assert damage.kills >= 2
    assert damage.messages >= 10
