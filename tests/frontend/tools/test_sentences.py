"""What a card will say of a call, in one sentence: nothing that others wrote is markup in it."""

from collections.abc import Mapping
from typing import Any

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent import Tool
from bot.agent.history.visible import hides
from bot.frontend.rights.places import place_worded
from bot.frontend.text import plain
from bot.frontend.tools import discord_tools
from bot.frontend.tools.messages import message_worded

ID = "123456789012345678"
START, END = "2026-05-31T18:00:00+02:00", "2026-05-31T20:00:00+02:00"
READERS = {"read_messages", "search_messages"}


@pytest.fixture(name="tools")
async def _tools() -> Mapping[str, Tool]:
    return discord_tools(discord.Client(intents=discord.Intents.none()))


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("announce", {"channel": "news", "text": "x"}, "Post an announcement in #news."),
        ("post_message", {"channel": f"<#{ID}>", "text": "x"}, f"Post a message in <#{ID}>."),
        ("start_thread", {"name": "x"}, "Start a thread in this channel."),
        (
            "pin_message",
            {"channel": "a*b", "message": f"https://discord.com/channels/1/2/{ID}"},
            rf"Pin the message {ID} in #a\*b.",
        ),
        (
            "make_poll",
            {"channel": ID, "question": "?", "answers": ["x"], "hours": 1},
            f"Make a poll in <#{ID}>, open for 1 hour.",
        ),
        (
            "create_event",
            {"name": "Tea\n@here", "location": "x", "start": START, "end": END},
            "Plan the event Tea @here for <t:1780243200:f>.",
        ),
        (
            "time_out_member",
            {"member": f"user-{ID}", "minutes": 1500},
            f"Time out <@{ID}> for 1,500 minutes.",
        ),
        ("time_out_member", {"member": "<b>", "minutes": 1}, r"Time out \<b\> for 1 minute."),
    ],
)
def test_a_call_is_said_in_a_sentence(
    tools: Mapping[str, Tool], name: str, arguments: Mapping[str, Any], sentence: str
) -> None:
    tool = tools[name]
    assert tool.sentence is not None
    assert tool.sentence(tool.parameters.effective(arguments)) == sentence


def test_all_but_readers_ask_and_all_are_checked(tools: Mapping[str, Tool]) -> None:
    assert set(tools) > READERS
    for name, tool in tools.items():
        assert tool.approval is (name not in READERS)
        assert (tool.sentence is None) is (name in READERS)
        assert tool.check is not None


@given(st.text())
def test_whatever_a_place_or_message_is_called_stays_plain(name: str) -> None:
    for worded in (place_worded(name), message_worded(name)):
        assert "\n" not in worded
        assert not any(hides(char) for char in worded)
    assert message_worded(name).endswith(plain(name, 100))
