"""A process in the place of a fork is as good as a new Python to whoever starts it."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from pathlib import Path

from tests.forking.client import command_of_fork

SAYS_BACK = """
import os, sys
print(os.getpid(), os.environ["MINE"], os.getcwd(), sys.argv[1], "mcp" in sys.modules, flush=True)
print(sys.stdin.readline().upper(), end="", file=sys.stderr)
sys.exit(7)
"""


async def started(folder: Path, word: str) -> tuple[Process, list[str]]:
    """Start it; return it and what it says of itself."""
    (program := folder / "program.py").write_text(SAYS_BACK)
    command = command_of_fork(str(program), word, imports=["mcp"])
    given = os.environ | {"MINE": "1"}  # noqa: TID251 - what a new process gets besides
    process = await create_subprocess_exec(
        *command, env=given, cwd=folder, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    assert process.stdout is not None
    return process, (await process.stdout.readline()).decode().split()


def is_there(pid: str) -> bool:
    return Path("/proc", pid).exists()


async def test_it_has_what_the_other_is_given_and_ends_as_that_does(tmp_path: Path) -> None:
    process, said = await started(tmp_path, "word")
    assert said[1:] == ["1", str(tmp_path), "word", "True"]
    assert int(said[0]) != process.pid
    out, err = await process.communicate(b"loud\n")
    assert (out, err, process.returncode) == (b"", b"LOUD\n", 7)


async def test_the_fork_does_not_outlive_it(tmp_path: Path) -> None:
    process, said = await started(tmp_path, "word")
    process.kill()
    await process.wait()
    async with asyncio.timeout(30):
        while is_there(said[0]):  # noqa: ASYNC110 - nothing tells of another's child
            await asyncio.sleep(0.01)
    await process.communicate()


async def test_when_the_fork_is_killed_it_ends(tmp_path: Path) -> None:
    process, said = await started(tmp_path, "word")
    os.kill(int(said[0]), 9)
    await process.communicate()
    assert process.returncode not in (0, 7)
