"""Kinds of turns, as people play them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tests.crash.judge import Fate
from tests.crash.mind import Plan
from tests.crash.scene import Scene, dm

Play = Callable[[Scene], Awaitable[None]]
KINDS: dict[str, Play] = {}
AFTER_A_START = {"written while away"}
"""Those of which the steps begin with the start of a process."""
IN_KNOWN_PLACES = {"written while away", "two sessions"}
"""Those with DMs. A first DM that the bot did not hear, it never can: Discord does not tell."""

PLAIN = Plan()
LONG = Plan(lines=(90, 60))
SHRINKING = Plan(lines=(90, 2))
TALKING = Plan(before=True)
SLOW = Plan(lines=(90, 2), pieces=4, pause=1.15)
STUCK = Plan(hangs=True)
FAILING = Plan(fails=True)


def kind(play: Play) -> Play:
    """Add a kind, by its name."""
    KINDS[play.__name__.replace("_", " ")] = play
    return play


@kind
async def plain(scene: Scene) -> None:
    await scene.asks(PLAIN)


@kind
async def two_parts(scene: Scene) -> None:
    await scene.asks(LONG)


@kind
async def slowly_written(scene: Scene) -> None:
    await scene.asks(SLOW)


@kind
async def shorter_at_the_second_try(scene: Scene) -> None:
    await scene.asks(SHRINKING)


@kind
async def text_before_a_tool(scene: Scene) -> None:
    await scene.asks(TALKING, calls=["jot"])


@kind
async def files_of_tools(scene: Scene) -> None:
    await scene.asks(TALKING, calls=["draw", "draw"])


@kind
async def approved(scene: Scene) -> None:
    asked = await scene.asks(TALKING, calls=["burn"])
    await scene.decides("Approve", f"{asked.token}.0")


@kind
async def approved_by_command(scene: Scene) -> None:
    asked = await scene.asks(PLAIN, calls=["burn"])
    await scene.decides("Approve", f"{asked.token}.0", command="/approve")


@kind
async def denied(scene: Scene) -> None:
    asked = await scene.asks(TALKING, calls=["burn"], ran=False)
    await scene.decides("Deny", f"{asked.token}.0")


@kind
async def parallel_calls(scene: Scene) -> None:
    asked = await scene.asks(TALKING, calls=["jot", "burn", "jot", "burn"])
    await scene.decides("Approve", f"{asked.token}.3")
    await scene.decides("Deny", f"{asked.token}.1")


@kind
async def reset(scene: Scene) -> None:
    asked = await scene.asks(TALKING, calls=["burn"], fates=frozenset({Fate.FORGOTTEN}), ran=False)
    await scene.sees(f"{asked.token}.0")
    await scene.resets()
    await scene.asks(PLAIN)


@kind
async def compacted(scene: Scene) -> None:
    for _ in range(3):
        asked = await scene.asks(PLAIN)
        await scene.sees(f"End of {asked.token}")
    await scene.compacts()
    await scene.asks(PLAIN)


@kind
async def stopped(scene: Scene) -> None:
    asked = await scene.asks(STUCK, fates=frozenset({Fate.STOPPED}))
    await scene.stops(asked)
    await scene.asks(PLAIN)


@kind
async def attachments(scene: Scene) -> None:
    files = [("notes.txt", b"some notes"), ("more.txt", b"more of them")]
    await scene.asks(PLAIN, attachments=files)


@kind
async def two_sessions(scene: Scene) -> None:
    await asyncio.gather(scene.asks(TALKING, calls=["jot"]), scene.asks(LONG, in_=dm(scene)))


@kind
async def failing_model(scene: Scene) -> None:
    await scene.asks(FAILING, fates=frozenset({Fate.FAILED}))


@kind
async def message_while_waiting(scene: Scene) -> None:
    first = await scene.asks(PLAIN, calls=["burn"])
    await scene.sees(f"{first.token}.0")
    await scene.asks(PLAIN)
    await scene.asks(PLAIN, by=scene.town.mod)
    await scene.decides("Approve", f"{first.token}.0")


@kind
async def three_in_a_row(scene: Scene) -> None:
    for plan in (LONG, PLAIN, PLAIN):
        await scene.asks(plan)


@kind
async def written_while_away(scene: Scene) -> None:
    async def write() -> None:
        await scene.asks(LONG)
        await scene.asks(TALKING, calls=["jot"])
        await scene.asks(PLAIN, in_=dm(scene))

    await scene.is_away(write)


@kind
async def in_a_thread(scene: Scene) -> None:
    asked = await scene.asks_in_a_thread(LONG)
    if not scene.given_up:
        await scene.asks(PLAIN, in_=asked.place)
