"""The watchdog: what blocks the event loop is told, with how long and where."""

import asyncio
import json
import re
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable

import pytest

from bot.watchdog import Watchdog, watched

PATIENCE = 30.0
BIG = "[" + ",".join(['{"a":"b"}'] * 1_000_000) + "]"


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == "bot.watchdog"]


class Looks:
    """By how much the loop was late, each time that the watchdog has looked."""

    def __init__(self) -> None:
        self.late: list[float] = []

    def __call__(self, late: float) -> None:
        self.late.append(late)

    async def further(self) -> None:
        """Return once it has looked again and has told what it saw before."""
        before = len(self.late)
        await until(lambda: len(self.late) > before + 1)


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 - what is waited for happens in a thread
            await asyncio.sleep(0.01)


def dawdle(until: Callable[[], object]) -> None:
    over = time.monotonic() + PATIENCE
    while not until() and time.monotonic() < over:
        time.sleep(0.05)


async def test_a_blocked_loop_is_told_with_how_long_and_where(
    caplog: pytest.LogCaptureFixture,
) -> None:
    looks, began = Looks(), time.monotonic()
    with watched(looks):
        await looks.further()
        enough = time.monotonic() + 1.0
        dawdle(lambda: time.monotonic() > enough)
        await looks.further()
    whole = (time.monotonic() - began) * 1000
    [text] = [each for each in told(caplog) if "dawdle" in each]
    found = re.match(r"the event loop was blocked for (\d+) ms by\n", text)
    assert found is not None
    assert 500 <= int(found[1]) <= whole
    assert "in dawdle" in text.splitlines()[-2]
    assert "time.sleep(0.05)" in text


async def test_what_holds_pythons_lock_is_told_too(caplog: pytest.LogCaptureFixture) -> None:
    looks = Looks()
    with watched(looks):
        await looks.further()
        json.loads(BIG)
        await looks.further()
    assert any("the event loop was blocked for" in text for text in told(caplog))


def test_a_loop_that_only_waits_is_not_blamed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.watchdog.LONG", 0.2)
    loop = asyncio.new_event_loop()  # it is not run, and so never answers
    ours, theirs = socket.socketpair()
    with ours, theirs, selectors.DefaultSelector() as selector:
        selector.register(theirs, selectors.EVENT_READ)
        waiting = threading.Thread(target=selector.select)
        waiting.start()
        dawdle(lambda: sys._current_frames()[waiting.ident or 0].f_code.co_name == "select")
        watchdog = Watchdog(loop, waiting.ident or 0)
        watching = threading.Thread(target=watchdog.watch)
        watching.start()
        dawdle(lambda: told(caplog))
        watchdog.stop()
        watching.join()
        ours.send(b"over")
        waiting.join()
    loop.close()
    text = "the event loop has been blocked for 0 s while another thread, or the machine, was busy"
    assert told(caplog) == [text]


async def test_a_loop_that_stays_blocked_is_told_while_it_is(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.watchdog.LONG", 0.3)
    looks = Looks()
    with watched(looks):
        await looks.further()
        dawdle(lambda: any("has been blocked for 0 s by\n" in each for each in told(caplog)))
        enough = time.monotonic() + 0.5
        dawdle(lambda: time.monotonic() > enough)
        meanwhile = told(caplog)
    while_blocked = [each for each in meanwhile if "has been blocked for 0 s by\n" in each]
    assert len(while_blocked) == 1


async def test_a_loop_that_is_busy_and_turns_is_not_told_of(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.watchdog.LIMIT", 1.0)
    looks, began = Looks(), time.monotonic()
    with watched(looks):
        for _ in range(20):
            time.sleep(0.1)  # noqa: ASYNC251 - busy, yet not blocked
            await asyncio.sleep(0.01)
    slowest = max(looks.late)  # on a busy machine it may be long, and is told of
    assert slowest < (time.monotonic() - began) / 2
    assert slowest > 1.0 or told(caplog) == []


def test_its_thread_ends_with_the_block_and_with_the_loop() -> None:
    kept = []

    async def watch_and_leave() -> None:
        kept.append(watched())
        kept[0].__enter__()

    async def watch() -> None:
        with watched():
            await asyncio.sleep(0.05)

    asyncio.run(watch())
    asyncio.run(watch_and_leave())
    for thread in threading.enumerate():
        if thread.name == "watchdog":
            thread.join(PATIENCE)
            assert not thread.is_alive()
