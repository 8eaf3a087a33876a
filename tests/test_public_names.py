from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

import bot


def loaded_by(program: str) -> Sequence[str]:
    """Return the modules of ours that a new process has, after a program."""
    told = "\nimport sys; print(*(name for name in sys.modules if name.startswith('bot.')))"
    ended = subprocess.run(
        [sys.executable, "-c", program + told], capture_output=True, text=True, check=True
    )
    return ended.stdout.splitlines()[-1].split() if ended.stdout.strip() else []


@pytest.mark.parametrize("name", bot.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(bot, name).__module__.startswith("bot.")
    assert getattr(bot, name).__name__ == name


def test_all_public_names_are_listed() -> None:
    assert {*bot.__all__} <= {*dir(bot)}
    assert bot.__all__ == sorted(bot.__all__)


def test_a_name_that_is_not_public_is_refused_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'bot' has no attribute 'Runner'"):
        _ = bot.Runner  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'utc_now' from 'bot'"):
        exec("from bot import utc_now")  # noqa: S102


def test_the_package_alone_loads_nothing() -> None:
    assert loaded_by("import bot") == []


def test_a_name_loads_what_it_is_made_of() -> None:
    loaded = loaded_by("from bot import TextChunkEvent")
    assert "bot.events" in loaded
    assert "bot.agent" not in loaded


@pytest.mark.parametrize("module", ["serve", "demo"])
def test_the_sandbox_loads_no_agent(module: str) -> None:
    assert "bot.agent" not in loaded_by(f"import bot.playground.{module}")


def test_help_loads_no_agent() -> None:
    program = (
        "import contextlib, runpy, sys\n"
        "sys.argv = ['parley', '--help']\n"
        "with contextlib.suppress(SystemExit): runpy.run_module('bot', run_name='__main__')"
    )
    assert not {"bot.agent", "bot.events", "bot.sessions"} & {*loaded_by(program)}
