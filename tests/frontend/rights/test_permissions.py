"""Which permissions a target takes, by the kind of place it is."""

import discord
import pytest

from bot.frontend.rights.permissions import READ, WRITE, needed_in


@pytest.mark.parametrize("kind", [discord.VoiceChannel, discord.StageChannel])
@pytest.mark.parametrize("needed", [READ, WRITE])
def test_what_is_beside_a_voice_channel_is_for_those_who_may_join_it(
    kind: type[discord.VoiceChannel | discord.StageChannel], needed: tuple[str, ...]
) -> None:
    assert set(needed_in(kind.__new__(kind), needed)) == {*needed, "connect"}
