"""What a world does not have, it says: a scenario can pass nowhere by accident."""

from pathlib import Path

import discord
import pytest
import simcord
from discord.http import Route

from tests.worlds.conftest import WORLDS


@pytest.mark.parametrize("world", WORLDS)
async def test_a_route_that_a_world_does_not_have_is_on_its_record(
    world: str, tmp_path: Path
) -> None:
    async with WORLDS[world](tmp_path / "parley.db") as scene:
        with pytest.raises((discord.NotFound, simcord.RouteNotImplemented)):
            await scene.client.http.request(Route("GET", "/nowhere/{id}", id=1))
    [route] = scene.unknown_routes
    assert route.startswith("GET /")
    assert route.endswith("/nowhere/1")
