"""A Python that has imported the bot, and forks: `python -m tests.forking.server FD FD`.

A request comes with descriptors for standard input, output and error, and one on which the new
process's number is told, and how it ended. When whoever asks is gone, so is all that it started.
Requests come on the first descriptor, and from whoever connects to the second.
"""

from __future__ import annotations

import gc
import importlib
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
from selectors import EVENT_READ, DefaultSelector, SelectorKey

NUMBER = struct.Struct("!i")
LARGEST = 200_000  # bytes of a request
DESCRIPTORS = 4


@dataclass(frozen=True)
class Request:
    """A command of Python's to run in a process of its own.

    Attributes:
        imports: Modules that it needs besides the bot's; imported before the fork, and kept.
    """

    arguments: list[str]
    folder: str
    environment: dict[str, str]
    new_session: bool = False
    imports: Sequence[str] = ()


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
    load()


def load(*names: str) -> None:
    """Import modules that are not here yet, and keep what there is for all forks."""
    new = [importlib.import_module(name) for name in names if name not in sys.modules]
    if new or not gc.get_freeze_count():
        gc.collect()
        gc.freeze()  # or each fork would look through all of it, and so copy it


@dataclass(frozen=True)
class Child:
    """A fork, a descriptor that tells when it has ended, and one of whoever wants to know."""

    pid: int
    watching: int
    telling: int


class Forking:
    """Forks for each request that comes, and tells of each fork how it ended."""

    def __init__(self, asking: socket.socket, others: socket.socket) -> None:
        self._asking, self._others = asking, others
        self._selector = DefaultSelector()
        self._selector.register(asking, EVENT_READ)
        self._selector.register(others, EVENT_READ)
        self._children: set[Child] = set()

    def serve(self) -> Request | None:
        """Return a request in the process that was forked for it, and nothing here at the end."""
        while True:
            for key, _ in self._selector.select():
                if isinstance(key.data, Child):
                    self._look_after(key, key.data)
                    continue
                data, descriptors = self._asked(key.fileobj is self._others)
                if data:
                    request = Request(**json.loads(data))
                    load(*request.imports)
                    if self._fork(*descriptors):
                        return request
                elif key.fileobj is self._asking:
                    self._end()
                    return None

    def _asked(self, by_another: bool) -> tuple[bytes, list[int]]:
        """Return a request and its descriptors; empty if who asked is gone."""
        asking = self._others.accept()[0] if by_another else self._asking
        data, descriptors, _, _ = socket.recv_fds(asking, LARGEST, DESCRIPTORS)
        if by_another:
            asking.close()
        return data, descriptors

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
        _tell(telling, pid)
        child = Child(pid, os.pidfd_open(pid), telling)
        self._children.add(child)
        self._selector.register(child.watching, EVENT_READ, child)
        self._selector.register(child.telling, EVENT_READ, child)
        return False

    def _look_after(self, key: SelectorKey, child: Child) -> None:
        """Kill a child that nobody waits for any more, or tell how one ended."""
        if child not in self._children:
            return
        if key.fd == child.telling:
            self._selector.unregister(child.telling)
            os.kill(child.pid, signal.SIGKILL)
            return
        self._children.remove(child)
        for each in {child.watching, child.telling} & self._selector.get_map().keys():
            self._selector.unregister(each)
        _, status = os.waitpid(child.pid, 0)
        _tell(child.telling, os.waitstatus_to_exitcode(status))
        os.close(child.telling)
        os.close(child.watching)

    def _end(self) -> None:
        for child in self._children:
            os.kill(child.pid, signal.SIGKILL)
        self._close()

    def _close(self) -> None:
        self._selector.close()
        self._asking.close()
        self._others.close()
        for child in self._children:
            os.close(child.watching)
            os.close(child.telling)


def _tell(telling: int, number: int) -> None:
    with suppress(ConnectionError):
        os.write(telling, NUMBER.pack(number))


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
    asked = Forking(*(socket.socket(fileno=int(each)) for each in sys.argv[1:])).serve()
    if asked is not None:
        become(asked)


if __name__ == "__main__":
    main()
