"""The command line: python -m bot.

Each command imports what it needs, so that `--help` is quick.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bot.commands import add_databases, add_reports, add_running, add_transfers
from bot.commands.parsing import Command, complain
from bot.errors import ConfigError, ParleyError

EPILOG = """\
Settings come from the environment and from .env in the working directory; .env.example names
them all. To try Parley without any account: python -m bot sandbox"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status: 2 for wrong settings, 1 for other failures."""
    given = make_parser().parse_args(arguments)
    try:
        status: int = given.command(given)
    except ConfigError as exc:
        _tell(given, "Parley cannot start:", *exc.problems)
        return 2
    except ParleyError as exc:
        _tell(given, f"Parley has stopped: {exc}")
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return status


def _tell(given: argparse.Namespace, what: str, *problems: str) -> None:
    """Tell what went wrong: people or, where the log is for programs, those."""
    if getattr(given, "log_format", "text") == "text":
        complain(what, *problems)
        return
    from bot.logs import log_last

    log_last([f"{what} {problem}" for problem in problems] or [what], given.log_format)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="python -m bot",
        description="Parley: a Discord bot that remembers, streams, and asks before it acts.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"Parley {_version()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, command: Command, text: str, /) -> Any:
        made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        made.set_defaults(command=command)
        made.add_argument(
            "--env-file", type=Path, metavar="FILE", help="read settings from here, not from .env"
        )
        return made

    for add_some in (add_running, add_databases, add_transfers, add_reports):
        add_some(add)
    return parser


def _version() -> str:
    try:
        return version("parley")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.exit(main())
