"""The demo, as people run it."""

import asyncio
import re
from pathlib import Path

from tests.commands import run


async def test_the_demo_plays_the_whole_conversation(tmp_path: Path) -> None:
    async with asyncio.timeout(30):
        ended = await run("sandbox", "--demo", in_=tmp_path)
    assert (ended.status, ended.err) == (0, "")
    wanted = [
        "wren: @Parley my name is Alice",
        "Parley: Nice to meet you, Alice",
        r"Parley \(writing\): I",
        r"Parley \(writing\): I am a scripted stand-in, .* \(\d+ characters\)",
        "ended by SIGTERM",
        "wren: what's my name\\?",
        "Parley: You are Alice.",
        "May I run `announce`",
        "Dinner is ready",
        r"\[Approve\]  \[Deny\]",
        "ended by SIGKILL",
        "bob clicks Approve",
        "Parley, to bob alone: You may not decide this request",
        "mona clicks Approve",
        r"Approved by @mona",
        "Posted in #announcements",
        "#announcements\n  Parley: Dinner is ready",
        "wren runs /reset",
        "Parley, to wren alone: I have forgotten",
        "Parley: You are wren",
        "All of it happened.",
    ]
    assert re.search(".*".join(wanted), ended.out, re.DOTALL), ended.out
