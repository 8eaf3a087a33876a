"""Each scenario is played in both worlds."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.worlds.sandbox import sandbox_scene
from tests.worlds.scene import Scene
from tests.worlds.simulated import simulated_scene

WORLDS = {"sandbox": sandbox_scene, "simcord": simulated_scene}


@pytest.fixture(params=list(WORLDS))
async def scene(
    request: pytest.FixtureRequest, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[Scene]:
    async with WORLDS[request.param](tmp_path / "parley.db") as scene:
        yield scene
    assert scene.unknown_routes == []
    # Fields that SimCord does not know stop a task of the bot, which logs that.
    assert [each for each in caplog.get_records("call") if each.levelno >= logging.ERROR] == []
