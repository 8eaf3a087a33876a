"""What the Dockerfile does, done here: its commands in a folder, as far as they need no root."""

import asyncio
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.deploy.dockerfile import ROOT, environment, one, stages
from tests.forking.client import WARNINGS
from tests.setups import PATIENCE, Setup, set_up
from tests.test_monitoring import until_it_is

BUILD, RUN = stages()


@pytest.fixture
async def home() -> AsyncIterator[Setup]:
    async with set_up() as made:
        yield made


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Return the folder in which the build stage made what the image holds.

    What the bot depends on is lent by the environment that runs the tests.
    """
    source, made = tmp_path / "source", tmp_path / "opt"
    copy_into(source)
    command = one(BUILD, "RUN").text.replace("/opt/parley", str(made))
    command = command.replace("pip --python", f"{sys.executable} -m pip --python")
    command = command.replace("python -m venv", f"{sys.executable} -m venv")
    command = command.replace("--no-cache-dir", "--no-deps")
    subprocess.run(command, shell=True, check=True, cwd=source)  # noqa: S602 - it is the Dockerfile's
    [packages] = made.glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib"))
    assert not list(made.glob("bin/pip*"))
    return made


def copy_into(source: Path) -> None:
    """Copy what the build stage copies."""
    source.mkdir()
    for step in BUILD:
        if step.name == "COPY":
            *names, target = step.text.split()
            for name in names:
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, source / target)
                else:
                    shutil.copy(ROOT / name, source / target)


async def test_the_image_runs_and_says_that_it_is_well(
    home: Setup, image: Path, tmp_path: Path, port: int
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    values = environment(RUN) | {"DATABASE": str(data / "parley.db"), "METRICS_PORT": str(port)}
    python, *entry = one(RUN, "ENTRYPOINT").words
    check = one(RUN, "HEALTHCHECK").words
    assert python == check[0] == "python"
    home.model.says("Hello Alice.")
    shown = os.environ | home.settings | values  # noqa: TID251 - for a process of our own
    shown |= {"PATH": f"{image}/bin:/usr/bin:/bin", "PYTHONWARNINGS": WARNINGS}
    process = await asyncio.create_subprocess_exec(
        f"{image}/bin/python",
        *entry,
        *one(RUN, "CMD").words,
        cwd=data,
        env=shown,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        await home.sandbox.connected(home.bot, PATIENCE)
        await until_it_is(True, port)
        asking = await asyncio.create_subprocess_exec(
            f"{image}/bin/python", *check[1:], cwd=data, env=shown
        )
        assert await asking.wait() == 0
        await home.alice.says("hello", in_=home.desk)
        await home.said("Hello Alice.")
        process.terminate()
        _, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0
    assert all(line.startswith(b"{") for line in err.splitlines())
    assert (data / "parley.db").exists()


def test_it_runs_as_somebody_who_may_do_nothing() -> None:
    assert one(RUN, "USER").text == "10001:10001"
    assert "useradd --uid 10001" in one(RUN, "RUN").text
    assert one(RUN, "VOLUME").text == one(RUN, "WORKDIR").text == "/data"
