"""The report of what the tests reach."""

from pathlib import Path

from tests.commands import ended, running


async def test_without_a_run_of_the_tests_it_says_what_to_do(tmp_path: Path) -> None:
    async with running(in_=tmp_path, program=("-m", "tests.coverage")) as process:
        end = await ended(process)
    assert end.status == 1
    assert end.out == "Nothing was measured here: run `make test` first.\n"
    assert end.err == ""
