"""Programs that are other processes: they race, or are killed in the middle."""

from __future__ import annotations

import asyncio
import signal
from asyncio.subprocess import PIPE
from pathlib import Path

from bot import SQLiteSessionManager
from bot.sessions import PostgresSessionManager, SQLSessionManager
from tests.commands import environment
from tests.forking.client import create_forked

APPROVER = """
import asyncio, sys
from pathlib import Path
from bot import Agent, ApprovalDecidedError, Provider, SQLiteSessionManager, tool
from bot.sessions import PostgresSessionManager

db, base_url, approval_id, who, ran = sys.argv[1:]

@tool(approval=True)
def pay() -> str:
    "Pay."
    with open(ran, "a") as file:
        file.write(who + "\\n")
    return "paid"

async def main():
    agent = Agent(
        provider=Provider(model="scripted", api_key="key", base_url=base_url),
        session_manager=PostgresSessionManager(db) if "://" in db else SQLiteSessionManager(db),
        tools=[pay],
    )
    await agent.pending("s")  # everything is open before the starting signal
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        result = await agent.approve("s", approval_id, by=who)
        print("ran", result.status, flush=True)
    except ApprovalDecidedError as exc:
        print("decided", exc.by, exc.at.isoformat(), flush=True)
    await agent.close()

asyncio.run(main())
"""

CROWD = """
import asyncio, sys
from pathlib import Path
from bot import Agent, ApprovalDecidedError, Provider, SQLiteSessionManager, tool
from bot.sessions import PostgresSessionManager

db, base_url, ran, who, *cards = sys.argv[1:]

@tool(approval=True)
def pay(number: int) -> str:
    "Pay."
    with open(ran, "a") as file:
        file.write(f"{number}\\n")
    return "paid"

async def click(agent, card):
    session_id, approval_id = card.split("/")
    try:
        await agent.approve(session_id, approval_id, by=who)
    except ApprovalDecidedError:
        return 0
    return 1

async def main():
    agent = Agent(
        provider=Provider(model="scripted", api_key="key", base_url=base_url),
        session_manager=PostgresSessionManager(db) if "://" in db else SQLiteSessionManager(db),
        tools=[pay],
    )
    await agent.pending("s0")
    print("ready", flush=True)
    sys.stdin.readline()
    counted = await asyncio.gather(*(click(agent, card) for card in cards for _ in "12"))
    print("counted", sum(counted), flush=True)
    await agent.close()

asyncio.run(main())
"""


STOPPER = """
import asyncio, os, signal, sys
from bot import Agent, Provider, SQLiteSessionManager
from bot.agent.loop.lease import SessionLease
from bot.sessions import PostgresSessionManager

db, base_url = sys.argv[1:]
looked = SessionLease.is_elsewhere

async def is_elsewhere(lease):
    elsewhere = await looked(lease)
    print(elsewhere, flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    return elsewhere

SessionLease.is_elsewhere = is_elsewhere

async def main():
    agent = Agent(
        provider=Provider(model="scripted", api_key="key", base_url=base_url),
        session_manager=PostgresSessionManager(db) if "://" in db else SQLiteSessionManager(db),
    )
    agent.watch(lambda session_id, events: events and os.kill(os.getpid(), signal.SIGKILL))
    await agent.stop("s", by="mod")

asyncio.run(main())
"""


def sessions(address: str) -> SQLSessionManager:
    if "://" in address:
        return PostgresSessionManager(address)
    return SQLiteSessionManager(address)


async def race(folder: Path, script: str, *commands: list[str]) -> list[str]:
    """Start a process a command, let all go at once, and return each one's last line."""
    processes = [await start(folder, script, *command) for command in commands]
    for process in processes:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
    answers = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    return [out.decode().strip() for out, _ in answers]


async def stop_and_be_killed(folder: Path, address: str) -> None:
    """Stop a session's turn in another process, which is killed by its first save."""
    stopper = await start(folder, STOPPER, address, "http://127.0.0.1:9")
    await stopper.communicate(b"go\n")
    assert stopper.returncode == -signal.SIGKILL


async def start(folder: Path, script: str, *arguments: str) -> asyncio.subprocess.Process:
    """Start a process that is spoken with."""
    (program := folder / "program.py").write_text(script)
    return await create_forked(
        str(program), *arguments, env=environment({}), stdin=PIPE, stdout=PIPE
    )
