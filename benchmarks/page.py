"""The sandbox's page with 2,000 messages in a channel, timed by the browser itself.

Run ``python -m benchmarks.page``. Chromium's trace says how long scripts ran, apart from layout
and painting: from the moment the channel is opened until it is shown, and for one edit.
"""

import asyncio
import json
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from bot.sandbox import Channel, Person, World, serve

MESSAGES = 2_000
EDITS = 20
RUNS = 5
OPENING_MS, EDIT_MS = 300, 16
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SCRIPTING = {"EvaluateScript", "FunctionCall", "v8.compile", "EventDispatch", "RunMicrotasks"}
TEXT = (
    "Message **{number}** with `code`, a [link](https://example.org/{number}), *a thought*\n"
    "> and a quote\n- one\n- two\n```python\nprint({number})\n```"
)


async def filled(channel: Channel, people: list[Person]) -> None:
    for number in range(MESSAGES):
        text = (
            TEXT.format(number=number) if number % 5 == 0 else f"A short message, number {number}."
        )
        await people[number % len(people)].says(text, in_=channel)


def scripting(trace: Path, after: str) -> tuple[float, float]:
    """Return the milliseconds of scripting, and of layout and style, after a mark."""
    events: list[dict[str, Any]] = json.loads(trace.read_text())["traceEvents"]
    mark = next(each for each in events if each["name"] == after)
    ours = [
        each
        for each in events
        if each.get("ph") == "X" and each["ts"] >= mark["ts"] and each["tid"] == mark["tid"]
    ]
    script = outermost([each for each in ours if each["name"] in SCRIPTING])
    layout = outermost([each for each in ours if each["name"] in {"Layout", "UpdateLayoutTree"}])
    return script, layout


def outermost(events: list[dict[str, Any]]) -> float:
    """Add up the thread's own time of events that lie in no other, in milliseconds."""
    total, end = 0.0, 0.0
    for each in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        if each["ts"] >= end:
            total += each.get("tdur", each["dur"]) / 1000
            end = each["ts"] + each["dur"]
    return total


async def traced(browser: Browser, page: Page, action: Any, mark: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        categories = ["devtools.timeline", "blink.user_timing", "v8"]
        await browser.start_tracing(page=page, path=trace, categories=categories)
        await page.evaluate("mark => performance.mark(mark)", mark)
        await action()
        await browser.stop_tracing()
        return scripting(trace, mark)


async def main() -> None:
    world = World()
    guild = world.guild("Home")
    quiet, busy = guild.channel("quiet"), guild.channel("busy")
    people = [world.person(name) for name in ("wren", "bob", "mona")]
    for each in people:
        guild.join(each)
    await filled(busy, people)
    async with serve(world) as sandbox, async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=FLAGS
        )
        page = await browser.new_page()
        openings, edits = [], []
        for _ in range(RUNS):
            await page.goto(f"{sandbox.page_url}#{quiet.id}")
            await page.reload()
            await page.locator("#title", has_text="#quiet").wait_for()
            openings.append(await opened(browser, page))
            for number in range(EDITS // RUNS):
                edits.append(await edited(browser, page, busy, number))
        await browser.close()
    report("opening", openings, OPENING_MS)
    report("an edit", edits, EDIT_MS)


async def opened(browser: Browser, page: Page) -> tuple[float, float]:
    async def action() -> None:
        await page.evaluate("document.querySelectorAll('#places .place')[1].click()")
        await page.locator(f"#messages > li:nth-child({MESSAGES})").wait_for()
        await page.wait_for_timeout(300)

    return await traced(browser, page, action, "opening")


async def edited(browser: Browser, page: Page, busy: Channel, number: int) -> tuple[float, float]:
    last = busy.messages[-1]
    assert isinstance(last.author, Person)
    author, text = last.author, f"Edited {number} " + TEXT.format(number=number)

    async def action() -> None:
        await author.edits(last, text)
        await page.locator("#messages > li", has_text=f"Edited {number}").last.wait_for()

    return await traced(browser, page, action, "edit")


def report(what: str, times: list[tuple[float, float]], allowed: float) -> None:
    script, layout = zip(*times, strict=True)
    print(
        f"{what:8} scripting {statistics.median(script):6.1f} ms (most {max(script):6.1f}, "
        f"allowed {allowed}); layout and style {statistics.median(layout):6.1f} ms"
    )
    assert statistics.median(script) < allowed, f"{what} takes too long"


if __name__ == "__main__":
    asyncio.run(main())
