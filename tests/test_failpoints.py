"""The points at which a test can end the process."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot import failpoints
from bot.config import failpoints_folder

PROGRAM = """
from pathlib import Path
from bot.failpoints import around, reach, watch
watch(Path({folder!r}))
for _ in range(3):
    with around("step"):
        print("done", flush=True)
"""


@pytest.fixture(autouse=True)
def _unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failpoints, "_watched", None)


def test_a_point_does_nothing_unless_it_is_watched(tmp_path: Path) -> None:
    failpoints.reach("step")
    assert list(tmp_path.iterdir()) == []


def test_every_point_that_is_reached_is_noted(tmp_path: Path) -> None:
    failpoints.watch(tmp_path)
    failpoints.reach("first")
    with pytest.raises(ValueError, match="no"), failpoints.around("step"):
        raise ValueError("no")
    with failpoints.around("step"):
        pass
    noted = (tmp_path / "reached").read_text().splitlines()
    assert noted == ["first 1", "step.before 1", "step.before 2", "step.after 1"]


@pytest.mark.parametrize(
    ("kill", "done"), [("step.before 2", 1), ("step.after 2", 2), ("* 1", 0), ("step.after 9", 3)]
)
def test_the_process_dies_where_it_is_told_to(kill: str, done: int, tmp_path: Path) -> None:
    (tmp_path / "kill").write_text(kill)
    program = PROGRAM.format(folder=str(tmp_path))
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert ended.stdout.decode().count("done") == done
    assert ended.returncode == (0 if done == 3 else -signal.SIGKILL)


def test_only_the_tests_environment_switches_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARLEY_FAILPOINTS", raising=False)
    assert failpoints_folder() is None
    monkeypatch.setenv("PARLEY_FAILPOINTS", "/somewhere")
    assert failpoints_folder() == Path("/somewhere")
