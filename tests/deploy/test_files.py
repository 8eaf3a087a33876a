"""The files for containers and systemd, judged by the tools of their trades."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from bot.app import LAST_SECONDS
from bot.config import Settings
from bot.ending import LEFTOVERS
from tests.deploy.dockerfile import ROOT

UNIT = ROOT / "deploy" / "parley.service"
PROGRAM = "/opt/%N/bin/python"
COMPOSE = ("compose.yaml", "compose.postgres.yaml")
EXPOSURE = 15
"""Tenths: 0 is a service that can do nothing, 100 one that may do anything."""


def asked(*command: str) -> str:
    """Run a command that has to succeed; return all that it prints."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def read(name: str) -> Any:
    return YAML(typ="safe", pure=True).load((ROOT / name).read_text())


def ends_within() -> float:
    """Return how long the bot may take to end, with the settings as they come."""
    seconds = float(Settings.model_fields["shutdown_seconds"].default)
    return seconds + LAST_SECONDS + LEFTOVERS


def test_the_dockerfile_is_as_its_linter_wants() -> None:
    hadolint = Path(sys.executable).parent / "hadolint"
    assert asked(str(hadolint), "--failure-threshold", "style", str(ROOT / "Dockerfile")) == ""


@pytest.mark.parametrize("name", COMPOSE)
def test_a_compose_file_is_as_the_specification_says(name: str) -> None:
    [schema] = [
        each for each in files("check-jsonschema") or () if each.name == "compose-spec.json"
    ]
    jsonschema.validate(read(name), json.loads(schema.read_text()))


def test_the_container_can_do_little_and_has_the_time_to_end() -> None:
    service = read("compose.yaml")["services"]["parley"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert float(service["stop_grace_period"].removesuffix("s")) > ends_within()


@pytest.mark.parametrize("name", COMPOSE)
def test_two_containers_of_the_bot_fit_on_one_machine(name: str) -> None:
    service = read(name)["services"]["parley"]
    assert not service.keys() & {"container_name", "ports", "network_mode"}


def test_only_what_the_image_needs_is_sent_to_be_built() -> None:
    first, *rest = (ROOT / ".dockerignore").read_text().splitlines()[1:]
    assert first == "*"
    assert [each for each in rest if each.startswith("!")] == [
        "!pyproject.toml",
        "!constraints.txt",
        "!README.md",
        "!bot",
    ]


@pytest.fixture(params=["parley.service", "parley@.service"])
def unit(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a copy of the unit, or of the template it also is, whose program is there."""
    if shutil.which("systemd-analyze") is None:
        if os.environ.get("CI"):  # noqa: TID251 - the test run's own setting, not the bot's
            pytest.fail("CI is set and there is no systemd-analyze; .ci/run installs it")
        pytest.skip("there is no systemd-analyze")
    text = UNIT.read_text()
    assert PROGRAM in text
    file: str = request.param
    copy = tmp_path / file
    for name in ("parley", "parley@a"):
        (tmp_path / name).symlink_to(sys.prefix)
    copy.write_text(text.replace(PROGRAM, f"{tmp_path}/%N/bin/python"))
    return copy.with_name(file.replace("@.", "@a."))


def test_systemd_understands_the_unit(unit: Path) -> None:
    assert asked("systemd-analyze", "verify", str(unit)) == ""


def test_the_unit_can_do_little(unit: Path) -> None:
    asked("systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE}", str(unit))


def of_unit(name: str) -> list[str]:
    """Return the values that the unit has for this."""
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", ["parley", "parley@a"])
def test_the_command_has_what_the_unit_has(tmp_path: Path, name: str) -> None:
    stands_in = tmp_path / "systemd-run"  # it needs a systemd that runs
    stands_in.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    stands_in.chmod(0o755)
    (tmp_path / name).symlink_to(ROOT / "deploy" / "parley")
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    command = [str(tmp_path / name), "backup", "a copy.db"]
    given = subprocess.run(command, env=path, capture_output=True, text=True, check=True)
    *options, python, m, bot, backup, copy = given.stdout.splitlines()
    [program] = of_unit("ExecStart")
    assert [python, m, bot] == program.replace("%N", name).split()[:3]
    assert (backup, copy) == ("backup", "a copy.db")
    told = [each.removeprefix("--property=").split("=", 1) for each in options if "=" in each]
    for key in ("DynamicUser", "User", "StateDirectory", "WorkingDirectory", "EnvironmentFile"):
        wanted = [each.replace("%N", name).replace("%S", "/var/lib") for each in of_unit(key)]
        assert [value for found, value in told if found == key] == wanted


def test_the_unit_has_the_time_to_end() -> None:
    [seconds] = of_unit("TimeoutStopSec")
    assert float(seconds) > ends_within()
