"""Ten minutes of bad weather: `python -m benchmarks.chaos`.

Prints what happened, and everything that the judge found wrong; ends with status 1 if there was
any.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.databases import add_option, databases
from tests.crash.chaos import Weather, storm

SHOWN = 20  # of what is wrong


async def main() -> int:
    usual = Weather()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=usual.seconds)
    parser.add_argument("--kills", type=float, default=usual.kills, help="seconds between kills")
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument("--twins", action="store_true", help="two processes on the same shard")
    add_option(parser)
    given = parser.parse_args()
    weather = replace(
        usual, seconds=given.seconds, kills=given.kills, seed=given.seed, twins=given.twins
    )
    temporary = tempfile.TemporaryDirectory(prefix="parley-chaos-")
    with temporary as folder, databases(given.database) as made:
        damage = await storm(Path(folder), weather, made)
    people = weather.channels * weather.people
    print(f"{weather.seconds:.0f} s, {weather.channels} channels, {people} people")
    print(f"{damage.messages} messages, {damage.calls} calls of tools, {damage.kills} kills")
    print(f"the longest wait for an answer: {damage.slowest:.0f} s")
    for trouble, count in sorted(damage.troubles.items()):
        print(f"  {count:4} x {trouble}")
    print(f"wrong: {len(damage.wrong)}", *damage.wrong[:SHOWN], *damage.seen[:3], sep="\n")
    return int(bool(damage.wrong))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
