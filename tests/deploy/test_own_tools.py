"""The operator's own tools outside of the working directory, as docs/run.md has it for systemd."""

import asyncio
import sys
from asyncio import subprocess
from pathlib import Path

import pytest

from bot.sandbox.model import ScriptedModel, serve_model
from tests.commands import ROOT, ended, environment

TOOLS = """
from bot import tool
from prices import PRICES

@tool
def price(item: str) -> str:
    "Look up what something costs."
    return PRICES[item]
"""


@pytest.mark.parametrize("named", ["{folder}/my_tools.py", "shop.tools"])
async def test_they_are_found_beside_what_they_import(tmp_path: Path, named: str) -> None:
    folder, elsewhere = tmp_path / "lib", tmp_path / "state"
    (folder / "shop").mkdir(parents=True)
    elsewhere.mkdir()
    (folder / "prices.py").write_text('PRICES = {"pizza": "9.50"}')
    (folder / "my_tools.py").write_text(TOOLS)
    (folder / "shop" / "tools.py").write_text(TOOLS)
    model = ScriptedModel().says(calls=[("price", {"item": "pizza"})]).then("It is 9.50.")
    async with serve_model(model) as service:
        settings = {"OPENAI_BASE_URL": service.base_url, "OPENAI_MODEL": "scripted"}
        settings["TOOLS"] = f"current_time,{named.format(folder=folder)}"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "chat"),
            cwd=elsewhere,
            env=environment(settings) | {"PYTHONPATH": f"{ROOT}:{folder}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        end = await ended(process, "what is a pizza?\n")
    assert end.status == 0, end.err
    assert "It is 9.50." in end.out
    assert model.requests[1]["messages"][-1]["content"].endswith("9.50")
