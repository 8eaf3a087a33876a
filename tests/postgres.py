"""A PostgreSQL server for the tests: on loopback, without rights, gone with this process."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import pq, sql

from tests.ports import held_port

USER = "postgres"
ASKED = "asked"
"""Who has this role is asked for a password."""
SECONDS = 30.0
_numbers = count(1)


class Server:
    """A server, with its data in a folder of its own."""

    def __init__(self, binaries: Path, folder: Path, port: int, *, durable: bool) -> None:
        self.port = port
        self._binaries = binaries
        self._folder = folder
        self._durable = durable
        self._process: subprocess.Popen[bytes] | None = None
        data = folder / "data"
        _run(
            [binaries / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "-N"], folder
        )
        rules = data / "pg_hba.conf"
        rules.write_text(f"host all +{ASKED} all scram-sha-256\n{rules.read_text()}")

    def start(self) -> None:
        """Run it, and wait until it can be used."""
        self._run({})
        _wait_for(self)

    def start_closed(self) -> None:
        """Run it, so that it lets nobody in until it is opened, as while it recovers."""
        (self._folder / "data" / "standby.signal").touch()
        self._run({"hot_standby": "off"})
        while pq.PGconn.ping(self.url("postgres").encode()) != pq.Ping.REJECT:
            time.sleep(0.02)

    def open(self) -> None:
        """Let people in."""
        _run([self._binaries / "pg_ctl", "promote", "-D", self._folder / "data"], self._folder)

    def _run(self, more: Mapping[str, str]) -> None:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self._folder,
            "fsync": "on" if self._durable else "off",
            "max_connections": 200,
            **more,
        }
        options = [each for name, value in settings.items() for each in ("-c", f"{name}={value}")]
        self._process = subprocess.Popen(
            [*_unprivileged(), self._binaries / "postgres", "-D", self._folder / "data", *options],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it; connections are cut. With SIGQUIT what it knows is not brought to disk."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(SECONDS)
            self._process = None

    def url(self, database: str) -> str:
        """Return the address of one of its databases."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def new_database(self, how: str = "") -> str:
        """Make an empty database, with this in its CREATE statement, and return its address."""
        name = f"test_{os.getpid()}_{next(_numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0 {how}'.encode())
        return self.url(name)

    def guarded_database(self, password: str) -> str:
        """Make an empty database and return its address with a user who needs this password."""
        url, user = self.new_database(), f"user_{next(_numbers)}"
        create = "CREATE ROLE {} SUPERUSER LOGIN PASSWORD {} IN ROLE {}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            with suppress(psycopg.errors.DuplicateObject):
                connection.execute(f"CREATE ROLE {ASKED}")
            names = sql.Identifier(user), sql.Literal(password), sql.Identifier(ASKED)
            connection.execute(sql.SQL(create).format(*names))
        return url.replace(f"//{USER}@", f"//{user}@")

    def settings(self, folder: Path) -> Mapping[str, str]:
        """Return the settings of a bot with a new database; nothing is kept in the folder."""
        return {"DATABASE_URL": self.new_database()}


@contextmanager
def serving(*, durable: bool = False) -> Iterator[Server]:
    """Run a server while the block lasts; without PostgreSQL, skip, but never where CI is set.

    One that is durable waits for the disk.
    """
    binaries = _binaries()
    if binaries is None:
        if os.environ.get("CI"):  # noqa: TID251 - the test run's own setting, not the bot's
            pytest.fail("PostgreSQL is not installed: apt-get install postgresql")
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="parley-postgres-"))
    try:
        _own(folder)
        with held_port() as port:
            server = Server(binaries, folder, port, durable=durable)
            try:
                server.start()
                yield server
            finally:
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def installed() -> bool:
    """Return whether there is a PostgreSQL that can be run."""
    return _binaries() is not None


def _binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return found[-1].parent if found else None


def _unprivileged() -> list[str]:
    """Return what a command begins with: the server refuses to be root's, and ends with us."""
    rights = ["--reuid", USER, "--regid", USER, "--clear-groups"] if os.geteuid() == 0 else []
    return ["setpriv", "--pdeathsig", "TERM", *rights, "--"]


def _own(folder: Path) -> None:
    if os.geteuid() == 0:
        user = pwd.getpwnam(USER)
        os.chown(folder, user.pw_uid, user.pw_gid)


def _run(command: list[object], folder: Path) -> None:
    whole = [*_unprivileged(), *map(str, command)]
    subprocess.run(whole, cwd=folder, check=True, capture_output=True)


def _wait_for(server: Server) -> None:
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            psycopg.connect(server.url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
