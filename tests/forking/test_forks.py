"""A fork is as good as a process that asyncio started."""

from __future__ import annotations

import os
import signal
import time
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.forking.client import create_forked


def see_it_end(pid: int) -> None:
    """Return once a process has ended; meanwhile the event loop hears nothing of it."""
    deadline = time.monotonic() + 30
    while Path("/proc", str(pid)).exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_signal_to_one_that_has_just_ended_is_nothing(number: int, tmp_path: Path) -> None:
    (program := tmp_path / "program.py").write_text("raise SystemExit(7)")
    environment = dict(os.environ)  # noqa: TID251 - what a new process gets
    process = await create_forked(str(program), env=environment, stdin=PIPE, stdout=PIPE)
    see_it_end(process.pid)
    assert process.returncode is None
    process.send_signal(number)
    await process.communicate()
    assert process.returncode == 7
