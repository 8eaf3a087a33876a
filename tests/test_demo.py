"""The demo, as people run it."""

import re
from pathlib import Path

from tests.commands import ROOT, run


async def test_the_demo_plays_the_whole_conversation_that_the_readme_shows(tmp_path: Path) -> None:
    ended = await run("sandbox", "--demo", in_=tmp_path, fresh=True)
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
        r"Parley: You have not told me your name\. Discord calls you wren\.",
        "All of it happened.",
    ]
    assert re.search(".*".join(wanted), ended.out, re.DOTALL), ended.out
    readme = (ROOT / "README.md").read_text()
    [excerpt] = re.findall(r"^```text\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    missing = [line for line in excerpt.splitlines() if line not in ended.out.splitlines()]
    assert missing == []
