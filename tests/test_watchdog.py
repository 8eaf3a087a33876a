"""The watchdog: what blocks the event loop is told, with how long and where."""

import asyncio
import json
import re
import selectors
import threading
import time

import pytest

from bot.watchdog import Watchdog, watched

BIG = "[" + ",".join(['{"a":"b"}'] * 3_000_000) + "]"


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == "bot.watchdog"]


def dawdle(seconds: float) -> None:
    time.sleep(seconds)


async def test_a_blocked_loop_is_told_with_how_long_and_where(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with watched():
        await asyncio.sleep(0.1)
        dawdle(0.5)
        await asyncio.sleep(0.1)
    [text] = [each for each in told(caplog) if "dawdle" in each]
    found = re.match(r"the event loop was blocked for (\d+) ms by\n", text)
    assert found is not None
    assert 400 <= int(found[1]) <= 5_000
    assert "in dawdle" in text.splitlines()[-2]
    assert "time.sleep(seconds)" in text


async def test_what_holds_pythons_lock_is_told_too(caplog: pytest.LogCaptureFixture) -> None:
    with watched():
        await asyncio.sleep(0.05)
        json.loads(BIG)
        await asyncio.sleep(0.1)
    assert any("the event loop was blocked for" in text for text in told(caplog))


def test_a_loop_that_only_waits_is_not_blamed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.watchdog.LONG", 0.2)
    loop = asyncio.new_event_loop()  # it is not run, and so never answers
    with selectors.DefaultSelector() as selector:
        waiting = threading.Thread(target=selector.select, args=(1.0,))
        waiting.start()
        watchdog = Watchdog(loop, waiting.ident or 0)
        watching = threading.Thread(target=watchdog.watch)
        watching.start()
        waiting.join()
        watchdog.stop()
        watching.join()
    loop.close()
    text = "the event loop has been blocked for 0 s while another thread, or the machine, was busy"
    assert told(caplog) == [text]


async def test_a_loop_that_stays_blocked_is_told_while_it_is(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.watchdog.LONG", 0.3)
    with watched():
        await asyncio.sleep(0.1)
        dawdle(0.9)
        meanwhile = told(caplog)
        await asyncio.sleep(0.1)
    while_blocked = [each for each in meanwhile if "has been blocked for 0 s by\n" in each]
    assert len(while_blocked) == 1


async def test_a_loop_that_is_busy_and_turns_is_not_told_of(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.watchdog.LIMIT", 1.0)  # a busy machine is not to be told of here
    with watched():
        for _ in range(20):
            time.sleep(0.1)  # noqa: ASYNC251 - busy, yet not blocked
            await asyncio.sleep(0.01)
    assert told(caplog) == []


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
            thread.join(2.0)
            assert not thread.is_alive()
