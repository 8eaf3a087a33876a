"""What only real processes can show."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from bot.storage import SQLiteDatabase
from tests.storage.together import errors_of_many

OPEN_AND_WRITE = """
import asyncio, sys
from bot.storage import SQLiteDatabase

async def main():
    database = SQLiteDatabase(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.read(1)
    await database.execute("INSERT INTO marks VALUES (?, '')", (sys.argv[2],))
    await database.close()

asyncio.run(main())
"""

FAIL_BEFORE_CLOSE = """
import asyncio, sys
from bot.storage import SQLiteDatabase

async def main():
    database = SQLiteDatabase(sys.argv[1])
    await database.execute("INSERT INTO marks VALUES ('a', '')")
    others = [asyncio.create_task(database.execute("INSERT INTO marks VALUES (?, '')", (str(n),)))
              for n in range(5)]
    await asyncio.sleep(0)
    raise LookupError("at the top")

asyncio.run(main())
"""

LEFT_OPEN_IN_A_GLOBAL = """
import asyncio, sys
from bot.storage import SQLiteDatabase
database = SQLiteDatabase(sys.argv[1])
asyncio.run(database.execute("INSERT INTO marks VALUES ('a', '')"))
raise LookupError("at the top")
"""


async def test_eight_processes_that_open_a_new_file_at_once_all_work(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    assert await errors_of_many(tmp_path, OPEN_AND_WRITE, str(path)) == [""] * 8
    database = SQLiteDatabase(path)
    assert await database.fetch("SELECT count(*) FROM marks") == [(8,)]
    await database.close()


@pytest.mark.parametrize("program", [FAIL_BEFORE_CLOSE, LEFT_OPEN_IN_A_GLOBAL])
async def test_a_program_that_fails_before_it_closes_still_exits(
    tmp_path: Path, program: str
) -> None:
    path = tmp_path / "data.db"
    command = [sys.executable, "-c", program, str(path)]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("LookupError: at the top")


def test_importing_sessions_is_light() -> None:
    heavy = {"aiosqlite", "sqlite3", "psycopg", "pydantic", "openai", "discord"}
    program = (
        "import sys; before = set(sys.modules); import bot.sessions, bot.storage;"
        f"print({heavy!r} & (set(sys.modules) - before))"
    )
    done = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert done == "set()\n"
