"""The report of what the tests reach."""

from pathlib import Path

from coverage import CoverageData

from tests.commands import ended, running


async def test_without_a_run_of_the_tests_it_says_what_to_do(tmp_path: Path) -> None:
    async with running(in_=tmp_path, program=("-m", "tests.coverage")) as process:
        end = await ended(process)
    assert end.status == 1
    assert end.out == "Nothing was measured here: run `make test COVERAGE=yes` first.\n"
    assert end.err == ""


async def test_what_a_process_measured_that_ended_late_is_added(tmp_path: Path) -> None:
    for room, suffix in (("one", None), ("two", "late")):
        file = tmp_path / "bot" / room / "part.py"
        file.parent.mkdir(parents=True)
        file.write_text("x = 1\n")
        measured = CoverageData(basename=str(tmp_path / ".coverage"), suffix=suffix)
        measured.add_arcs({str(file): [(-1, 1), (1, -1)]})
        measured.write()
        measured.close()
    async with running(in_=tmp_path, program=("-m", "tests.coverage")) as process:
        end = await ended(process)
    assert [line.split()[:3] for line in end.out.splitlines()] == [
        ["ok", "one", "100.00"],
        ["ok", "two", "100.00"],
    ]


LEAVING_OUT = """
import os
from pathlib import Path
from coverage import Coverage
from tests.coverage import IN_CHILDREN, unmeasured

measuring = Coverage(data_file=None, config_file=False, omit=["*/tests/page/*"])
measuring.start()
os.environ[IN_CHILDREN] = ""
for file in ("/it/tests/page/test_it.py", "/it/tests/agent/test_it.py"):
    with unmeasured(Path(file)):
        print(Coverage.current() is measuring, IN_CHILDREN in os.environ)
    print(Coverage.current() is measuring, IN_CHILDREN in os.environ)
measuring.stop()
"""


async def test_what_is_left_out_is_not_measured_nor_are_its_processes(tmp_path: Path) -> None:
    script = tmp_path / "leaving_out.py"
    script.write_text(LEAVING_OUT)
    async with running(in_=tmp_path, program=(str(script),)) as process:
        end = await ended(process)
    assert end.err == ""
    assert end.out.splitlines() == ["False False", "True True", "True True", "True True"]
