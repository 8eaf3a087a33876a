"""`python -m bot import` and `export`, as people use them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import run
from tests.transfer.test_reading import TALK, written


async def test_a_file_goes_in_and_comes_out(tmp_path: Path) -> None:
    written(tmp_path, TALK)
    first = await run("import", "talk.json", "--session", "ann", in_=tmp_path)
    assert (first.status, first.err) == (0, "")
    assert first.out == ("talk.json is now the session ann: 8 events; left out: 1 system message\n")
    again = await run("import", "talk.json", "--session", "ann", in_=tmp_path)
    assert again.status == 1
    assert again.err == "Nothing was imported: session 'ann' exists already\n"
    given = await run("export", "--session", "ann", "--out", "ann.json", in_=tmp_path)
    assert (given.status, given.out) == (0, "")
    printed = await run("export", "--session", "ann", in_=tmp_path)
    assert json.loads(printed.out) == _json(tmp_path / "ann.json")
    refused = await run("export", "--session", "ann", "--out", "ann.json", in_=tmp_path)
    assert refused.err == "Nothing was exported: ann.json: File exists\n"
    copied = await run("import", "ann.json", "--session", "bob", in_=tmp_path)
    assert copied.status == 0


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_what_no_database_can_keep_goes_in_with_a_mark_in_its_place(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = engine == "postgres"
    settings = (
        {"DATABASE_URL": request.getfixturevalue("postgres").new_database()} if server else {}
    )
    written(tmp_path, TALK)
    await run("import", "talk.json", "--session", "ann", in_=tmp_path, settings=settings)
    given = await run("export", "--session", "ann", in_=tmp_path, settings=settings)
    export = json.loads(given.out)
    said = next(each for each in export["events"] if each["kind"] == "user_message")
    said["author"] = {"user_id": "a\0b", "name": "half \ud83e"}
    said["text"] = "c\0d\ud83e"
    written(tmp_path, {**export, "user_id": "a\0b\ud83e"})
    taken = await run("import", "talk.json", "--session", "bob", in_=tmp_path, settings=settings)
    assert (taken.status, taken.err) == (0, "")
    given = await run("export", "--session", "bob", in_=tmp_path, settings=settings)
    assert json.loads(given.out)["user_id"] == "a\ufffdb\ufffd"


async def test_what_is_wrong_is_told_in_a_line(tmp_path: Path) -> None:
    written(tmp_path, [TALK[3]])
    wrong = await run("import", "talk.json", "--session", "ann", in_=tmp_path)
    assert wrong.status == 1
    assert wrong.err == (
        "Nothing was imported: talk.json: message 1: it is the result of 'call_0', which nobody"
        " called for\n"
    )
    absent = await run("import", "none.json", "--session", "ann", in_=tmp_path)
    assert absent.err == "Nothing was imported: none.json: No such file or directory\n"
    missing = await run("export", "--session", "ann", in_=tmp_path)
    assert missing.err == "Nothing was exported: there is no database parley.db\n"
    assert not (tmp_path / "parley.db").exists()
    written(tmp_path, TALK)
    await run("import", "talk.json", "--session", "bob", in_=tmp_path)
    missing = await run("export", "--session", "ann", in_=tmp_path)
    assert missing.err == "Nothing was exported: there is no session 'ann'\n"


def _json(path: Path) -> object:
    return json.loads(path.read_text())
