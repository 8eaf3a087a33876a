"""The watchdog: what blocks the event loop is told, with how long and where."""

import asyncio
import json
import re
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from bot.watchdog import Watchdog, watched

BIG = "[" + ",".join(['{"a":"b"}'] * 3_000_000) + "]"


STILL = "the event loop has been blocked for 0 s by"


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == "bot.watchdog"]


async def until_told(caplog: pytest.LogCaptureFixture, *, part: str) -> None:
    """Return once something was told; only what fails takes half a minute."""
    async with asyncio.timeout(30):
        while not any(part in text for text in told(caplog)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextmanager
def watching() -> Iterator[threading.Event]:
    """Watch the loop; give what is set once the loop has answered for the first time."""
    answered = threading.Event()
    with watched(lambda _: answered.set()):
        yield answered


def dawdle(seconds: float) -> None:
    time.sleep(seconds)


async def test_a_blocked_loop_is_told_with_how_long_and_where(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with watching() as answered:
        assert await asyncio.to_thread(answered.wait, 30)
        dawdle(0.5)
        await until_told(caplog, part="dawdle")
    [text] = [each for each in told(caplog) if "dawdle" in each]
    found = re.match(r"the event loop was blocked for (\d+) ms by\n", text)
    assert found is not None
    assert int(found[1]) >= 400
    assert "in dawdle" in text.splitlines()[-2]
    assert "time.sleep(seconds)" in text


async def test_what_holds_pythons_lock_is_told_too(caplog: pytest.LogCaptureFixture) -> None:
    with watching() as answered:
        assert await asyncio.to_thread(answered.wait, 30)
        caplog.clear()
        json.loads(BIG)
        await until_told(caplog, part="the event loop was blocked for")


def test_a_loop_that_only_waits_is_not_blamed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.watchdog.LONG", 0.2)
    loop = asyncio.new_event_loop()  # it is not run, and so never answers
    here, there = socket.socketpair()
    with here, there, selectors.DefaultSelector() as selector:
        selector.register(here, selectors.EVENT_READ)
        waiting = threading.Thread(target=selector.select, args=(60.0,))
        waiting.start()
        until(lambda: sys._current_frames()[waiting.ident or 0].f_code.co_name == "select")
        watchdog = Watchdog(loop, waiting.ident or 0)
        thread = threading.Thread(target=watchdog.watch)
        thread.start()
        until(lambda: bool(told(caplog)))
        there.send(b"!")
        waiting.join()
        watchdog.stop()
        thread.join()
    loop.close()
    text = "the event loop has been blocked for 0 s while another thread, or the machine, was busy"
    assert told(caplog) == [text]


async def test_a_loop_that_stays_blocked_is_told_while_it_is(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.watchdog.LONG", 0.3)
    with watching() as answered:
        assert await asyncio.to_thread(answered.wait, 30)
        for _ in range(30):  # on a busy machine the watchdog may be late itself
            dawdle(0.9)
            if meanwhile := [each for each in told(caplog) if "in dawdle" in each]:
                break
        else:
            pytest.fail("it was not told")
    assert [each.splitlines()[0] for each in meanwhile] == [STILL]


async def test_a_loop_that_is_busy_and_turns_is_not_told_of(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.watchdog.LIMIT", 3.0)  # a busy machine is not to be told of here
    with watched():
        for _ in range(32):
            time.sleep(0.1)  # noqa: ASYNC251 - busy, yet not blocked
            await asyncio.sleep(0.01)
    assert told(caplog) == []


def test_its_thread_ends_with_the_block_and_with_the_loop() -> None:
    kept = []

    async def watch_and_leave() -> None:
        kept.append(watched())
        kept[0].__enter__()

    async def watch() -> None:
        with watching() as answered:
            assert await asyncio.to_thread(answered.wait, 30)

    asyncio.run(watch())
    asyncio.run(watch_and_leave())
    for thread in threading.enumerate():
        if thread.name == "watchdog":
            thread.join(30.0)
            assert not thread.is_alive()
