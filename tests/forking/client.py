"""Asking for forks, and having them as processes of asyncio."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from asyncio.base_subprocess import BaseSubprocessTransport
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from io import FileIO
from pathlib import Path
from typing import Any

from bot.config import child_environment
from tests.forking.server import NUMBER, Request

ROOT = Path(__file__).parent.parent.parent
STAND_IN = str(Path(__file__).with_name("stand_in.py"))
MEASURED = "COVERAGE_PROCESS_CONFIG"
LIMIT = 2**16  # bytes of a line, as in asyncio
WARNINGS = "error,ignore:'audioop' is deprecated:DeprecationWarning"


async def create_forked(
    *arguments: str,
    env: Mapping[str, str],
    cwd: Path | None = None,
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    start_new_session: bool = False,
) -> Process:
    """Do what `create_subprocess_exec(sys.executable, *arguments, ...)` does, by a fork."""
    request = Request(list(arguments), str(cwd or Path.cwd()), dict(env), start_new_session)
    loop = asyncio.get_running_loop()
    protocol = SubprocessStreamProtocol(limit=LIMIT, loop=loop)
    there = loop.create_future()
    transport = _Transport(
        loop, protocol, [], False, stdin, stdout, stderr, 0, there, request=request
    )
    await there
    return Process(transport, protocol, loop)


class _Transport(BaseSubprocessTransport):
    """asyncio's transport of a process, of one that was forked elsewhere."""

    _proc: Any
    _loop: asyncio.AbstractEventLoop

    def _start(self, *, stdin: Any, stdout: Any, stderr: Any, **options: Any) -> None:  # type: ignore[override]
        self._proc = _Forked(options["request"], stdin, stdout, stderr)
        self._loop.add_reader(self._proc.telling, self._told)

    def _told(self) -> None:
        self._loop.remove_reader(self._proc.telling)
        self._process_exited(self._proc.wait())

    def close(self) -> None:
        if self._proc is not None and self._proc.returncode is None:
            self._loop.remove_reader(self._proc.telling)
        super().close()


class _Forked:
    """What asyncio needs of a `subprocess.Popen`."""

    def __init__(
        self, request: Request, stdin: int | None, stdout: int | None, stderr: int | None
    ) -> None:
        self.returncode: int | None = None
        ours: list[FileIO | None] = []
        theirs = []
        for number, wanted in enumerate((stdin, stdout, stderr)):
            given, kept = _ends(number, wanted)
            theirs.append(given)
            ours.append(kept)
        self.stdin, self.stdout, self.stderr = ours
        self.telling, told = (each.detach() for each in socket.socketpair())
        server = _server(request.environment.get(MEASURED, ""))
        socket.send_fds(server.asking, [json.dumps(asdict(request)).encode()], [*theirs, told])
        for each in (*theirs, told):
            os.close(each)
        self.pid: int = NUMBER.unpack(os.read(self.telling, NUMBER.size))[0]

    def wait(self) -> int:
        """Return the status, once it has ended."""
        if self.returncode is None:
            told = os.read(self.telling, NUMBER.size)
            os.close(self.telling)
            self.returncode = NUMBER.unpack(told)[0] if told else -signal.SIGKILL
        return self.returncode

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):  # it has just ended, as for a Popen
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _ends(number: int, wanted: int | None) -> tuple[int, FileIO | None]:
    """Return what the process is given as one of its descriptors, and our end of it."""
    if wanted == subprocess.PIPE:
        reading, writing = os.pipe()
        if number:
            return writing, FileIO(reading, "r")
        return reading, FileIO(writing, "w")
    if wanted == subprocess.DEVNULL:
        return os.open(os.devnull, os.O_RDWR), None
    return os.dup(number if wanted is None else wanted), None


def command_of_fork(*arguments: str, imports: Sequence[str] = ()) -> tuple[str, ...]:
    """Return a command that does what `python *arguments` does, for whoever starts programs itself.

    It is a process that waits for the fork: it ends as that does, and that does not outlive it.

    Args:
        arguments: A file's path and what it is told.
        imports: Modules that it needs besides the bot's.
    """
    server = _server(child_environment(values={}).get(MEASURED, ""))
    return sys.executable, "-IS", STAND_IN, server.address, ",".join(imports), *arguments


@dataclass(frozen=True)
class _Server:
    asking: socket.socket
    address: str


@cache
def _server(coverage: str) -> _Server:
    """Start the Python that forks; it ends with this process.

    Args:
        coverage: How its forks are measured, as coverage.py tells other processes; empty if not.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    others = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    others.bind("")  # the kernel finds a name
    others.listen()
    given = [theirs.fileno(), others.fileno()]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forking.server", *map(str, given)],
        pass_fds=given,
        cwd=ROOT,
        env=child_environment(values={"PYTHONWARNINGS": WARNINGS, MEASURED: coverage}),
        start_new_session=True,
    )
    made = _Server(ours, others.getsockname().removeprefix(b"\0").decode())
    theirs.close()
    others.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return made
