"""The real client as a process of its own, on a database of either engine: run with its settings.

It may be one of several on a shard, which `python -m bot run` refuses to be on a file.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bot.agent import tool
from bot.frontend import FrontendOptions
from bot.sessions import PostgresSessionManager, SQLiteSessionManager, SQLSessionManager
from tests.e2e.stage import Tools, parley


def store_at(address: str) -> SQLSessionManager:
    """Return the sessions of a database, by its address or path."""
    return PostgresSessionManager(address) if "://" in address else SQLiteSessionManager(address)


async def serve(address: str, api: str, model: str, token: str, ran: str, *channels: str) -> None:
    """Be the bot until the input ends; what `pay` did is noted in the file `ran`."""

    @tool(approval=True)
    def pay(number: int) -> str:
        """Pay."""
        with Path(ran).open("a") as file:
            file.write(f"{number}\n")
        return "paid"

    options = FrontendOptions(
        api_base=api,
        channel_ids=frozenset(map(int, channels)),
        drain_seconds=0.0,
        guilds_within=0.05,
        rescue_every=0.05,
        identify_pause=0.0,
    )
    store = store_at(address)
    client = parley(store=store, model_url=model, tools=Tools(more=[pay]), options=options)
    async with client:
        started = asyncio.create_task(client.start(token))
        await client.wait_until_ready()
        print("ready", flush=True)  # noqa: T201 - whoever started it waits for that
        await asyncio.to_thread(sys.stdin.read)
        await client.close()
        await started
    await client.agent.close()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
