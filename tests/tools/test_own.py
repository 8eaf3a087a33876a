"""The operator's own tools, from a file or a module."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import ConfigError
from bot.tools import own_tools

OWN = """\
from __future__ import annotations
from dataclasses import dataclass
from bot import tool

@dataclass
class Colour:
    name: str

@tool
def paint(colour: str) -> str:
    "Paint it."
    return colour

@tool(approval=True)
async def burn() -> str:
    "Burn it."
    return "ash"

def not_for_the_model() -> None: ...
"""


def test_a_file_gives_its_tools(tmp_path: Path) -> None:
    file = tmp_path / "my_tools.py"
    file.write_text(OWN)
    assert [(each.name, each.approval) for each in own_tools(str(file))] == [
        ("paint", False),
        ("burn", True),
    ]


def test_a_module_gives_its_tools() -> None:
    assert [each.name for each in own_tools("bot.tools.dice")] == ["roll_dice"]


@pytest.mark.parametrize("text", ["import nothing_of_this_name", "1 / 0", "x = (", "x = 1"])
def test_a_file_that_cannot_be_used_is_told_by_its_name(text: str, tmp_path: Path) -> None:
    file = tmp_path / "my_tools.py"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"TOOLS: .*my_tools\.py"):
        own_tools(str(file))


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(ConfigError, match=r"TOOLS: nowhere\.py"):
        own_tools("nowhere.py")
