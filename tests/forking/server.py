"""A Python that has imported the bot, and forks: `python -m tests.forking.server FD`.

A request comes with descriptors for standard input, output and error, and one on which the new
process's number is told, and how it ended. When whoever asks is gone, so is all that it started.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

NUMBER = struct.Struct("!i")
LARGEST = 200_000  # bytes of a request
DESCRIPTORS = 4


@dataclass(frozen=True)
class Request:
    """A command of Python's to run in a process of its own."""

    arguments: list[str]
    folder: str
    environment: dict[str, str]
    new_session: bool


def preload() -> None:
    """Import what the commands of the bot import, and start no thread."""
    import bot.app
    import bot.check
    import bot.commands
    import bot.monitoring.prometheus
    import bot.playground.demo
    import bot.playground.serve
    import bot.storage.postgres_connection
    import bot.transfer

    bot.app.preload()
    gc.collect()
    gc.freeze()  # or each fork would look through all of it, and so copy it


class Forking:
    """Forks for each request that comes, and tells of each fork how it ended."""

    def __init__(self, asking: socket.socket) -> None:
        self._asking = asking
        self._selector = DefaultSelector()
        self._selector.register(asking, EVENT_READ)
        self._children: dict[int, tuple[int, int]] = {}

    def serve(self) -> Request | None:
        """Return a request in the process that was forked for it, and nothing here at the end."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is not self._asking:
                    self._tell_end(key.fd)
                    continue
                data, descriptors, _, _ = socket.recv_fds(self._asking, LARGEST, DESCRIPTORS)
                if not data:
                    self._end()
                    return None
                if self._fork(*descriptors):
                    return Request(**json.loads(data))

    def _fork(self, stdin: int, stdout: int, stderr: int, telling: int) -> bool:
        """Return whether this is the new process."""
        standard = (stdin, stdout, stderr)
        pid = os.fork()
        if not pid:
            self._close()
            os.close(telling)
            _stand_in(standard)
            return True
        for each in standard:
            os.close(each)
        os.write(telling, NUMBER.pack(pid))
        watching = os.pidfd_open(pid)
        self._children[watching] = pid, telling
        self._selector.register(watching, EVENT_READ)
        return False

    def _tell_end(self, watching: int) -> None:
        self._selector.unregister(watching)
        pid, telling = self._children.pop(watching)
        _, status = os.waitpid(pid, 0)
        with suppress(BrokenPipeError):
            os.write(telling, NUMBER.pack(os.waitstatus_to_exitcode(status)))
        os.close(telling)
        os.close(watching)

    def _end(self) -> None:
        for pid, _ in self._children.values():
            os.kill(pid, signal.SIGKILL)
        self._close()

    def _close(self) -> None:
        self._selector.close()
        self._asking.close()
        for watching, (_, telling) in self._children.items():
            os.close(watching)
            os.close(telling)


def _stand_in(standard: Sequence[int]) -> None:
    """Take these as standard input, output and error."""
    for number, each in enumerate(standard):
        os.dup2(each, number)
        os.close(each)
    sys.stdin = TextIOWrapper(BufferedReader(FileIO(0, closefd=False)))
    sys.stdout = TextIOWrapper(BufferedWriter(FileIO(1, "w", closefd=False)))
    sys.stderr = TextIOWrapper(
        BufferedWriter(FileIO(2, "w", closefd=False)),
        errors="backslashreplace",
        line_buffering=True,
    )


def become(request: Request) -> None:
    """Run a command as a new Python would."""
    if request.new_session:
        os.setsid()
    os.chdir(request.folder)
    os.environ.clear()  # noqa: TID251 - a new process gets one
    os.environ.update(request.environment)  # noqa: TID251 - see above
    kind, *rest = request.arguments
    if kind == "-m":
        name, *sys.argv[1:] = rest
        sys.path[0] = request.folder
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        sys.argv = request.arguments
        sys.path[0] = str(Path(kind).parent)
        runpy.run_path(kind, run_name="__main__")


def main() -> None:
    preload()
    asked = Forking(socket.socket(fileno=int(sys.argv[1]))).serve()
    if asked is not None:
        become(asked)


if __name__ == "__main__":
    main()
