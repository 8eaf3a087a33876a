"""What was used, as the command line tells it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from bot.commands import usage_report as report
from bot.commands.usage_report import usage_report
from bot.events import Usage, utc_now
from bot.sessions.stores.usage import By, Purpose, UsageStore, Used
from bot.storage import Database, PostgresDatabase, SQLiteDatabase
from tests.commands import run

SINCE = date(2026, 11, 1)
USED = Used(
    turn_id="turn-1",
    call=0,
    at=datetime(2026, 11, 29, 12, tzinfo=UTC),
    purpose=Purpose.ANSWER,
    user_id="user-1",
    server_id=7,
    session_id="thread-9",
    model="gpt",
    usage=Usage(input_tokens=1000, output_tokens=20, cached_tokens=0),
)
UNTOLD = replace(USED, call=1, user_id=None, server_id=None, usage=Usage())
HEADER = (
    "at,user_id,server_id,session_id,model,purpose,turn_id,call,"
    "input_tokens,output_tokens,cached_tokens\n"
)


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[UsageStore]:
    made: Database
    if request.param == "sqlite":
        made = SQLiteDatabase(request.getfixturevalue("tmp_path") / "usage.db")
    else:
        made = PostgresDatabase(request.getfixturevalue("postgres").new_database())
    store = UsageStore(made)
    for used in (USED, UNTOLD):
        await store.add(used)
    yield store
    await made.close()


async def told(
    store: UsageStore, *, since: date | None = SINCE, by: By | None = None, csv: bool = False
) -> str:
    return "".join([piece async for piece in usage_report(store, since=since, by=by, csv=csv)])


async def test_as_csv_every_call_is_a_row_and_what_is_absent_is_empty(
    store: UsageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "PAGE", 1)
    at = "2026-11-29T12:00:00.000000+00:00"
    assert await told(store, csv=True) == (
        f"{HEADER}{at},user-1,7,thread-9,gpt,answer,turn-1,0,1000,20,0\n"
        f"{at},,,thread-9,gpt,answer,turn-1,1,,,\n"
    )
    assert await told(store, since=date(2026, 11, 30), csv=True) == HEADER


async def test_sums_are_a_table_or_csv(store: UsageStore) -> None:
    assert await told(store) == (
        "Tokens since 2026-11-01 (UTC)\n"
        "\n"
        "user       calls  input  output  cached  unknown\n"
        "(unknown)      1      0       0       0        1\n"
        "user-1         1  1,000      20       0        0\n"
        "all            2  1,000      20       0        1\n"
        "\n"
        "unknown: calls of which the service told no tokens; they count nothing.\n"
    )
    assert await told(store, by=By.SERVER, csv=True) == (
        "server,calls,untold,input_tokens,output_tokens,cached_tokens\n"
        "0,1,1,0,0,0\n"
        "7,1,0,1000,20,0\n"
    )


@pytest.mark.parametrize(
    ("by", "names"),
    [
        (By.SERVER, ["(none)", "7", "all"]),
        (By.MODEL, ["gpt"]),
        (By.DAY, ["2026-11-29"]),
    ],
)
async def test_it_is_told_apart_by_what_is_asked(
    store: UsageStore, by: By, names: list[str]
) -> None:
    rows = (await told(store, by=by)).splitlines()[3 : 3 + len(names)]
    assert [row.split()[0] for row in rows] == names


async def test_a_month_without_any_is_told(store: UsageStore) -> None:
    assert await told(store, since=date(2026, 12, 1)) == "Nothing was used since 2026-12-01.\n"


async def test_the_command_reads_what_a_running_bot_keeps(tmp_path: Path) -> None:
    database = SQLiteDatabase(tmp_path / "parley.db")
    await UsageStore(database).add(replace(USED, at=utc_now()))
    table = await run("usage", in_=tmp_path)
    rows = await run("usage", "--csv", "--since", "2026-01-01", in_=tmp_path)
    sums = await run("usage", "--by", "model", "--csv", in_=tmp_path)
    await database.close()
    assert (table.status, table.err) == (0, "")
    assert "user-1      1  1,000" in table.out
    assert rows.out.startswith(HEADER)
    assert len(rows.out.splitlines()) == 2
    assert sums.out.splitlines()[1] == "gpt,1,0,1000,20,0"


async def test_the_command_says_what_is_wrong_and_makes_no_database(tmp_path: Path) -> None:
    absent = await run("usage", in_=tmp_path)
    assert absent.status == 1
    assert absent.err == "Nothing can be told: there is no database parley.db\n"
    assert not (tmp_path / "parley.db").exists()
    mistyped = await run("usage", "--since", "yesterday", in_=tmp_path)
    assert mistyped.status == 2
    assert "'yesterday' is no day like 2026-11-29" in mistyped.err
