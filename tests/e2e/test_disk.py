"""A disk that fails under the bot: told once, nothing lost, answered when it is well again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from bot.errors import StorageError
from bot.frontend.approvals.decisions import ONCE
from bot.frontend.commands.interactions import NOT_DONE
from bot.frontend.hearing import catch_up
from bot.frontend.recovery import comeback
from bot.frontend.showing import reconcile
from bot.sandbox import Answer, Message
from bot.sessions.stores.policies import PolicyStore
from bot.sessions.stores.rests import RestStore
from bot.storage import connection as storage
from tests.commands import running, stopped
from tests.disks import fill, mounted
from tests.e2e.stage import Stage, logged
from tests.e2e.test_answer_buttons import press
from tests.setups import PATIENCE, labels, set_up

Lock = Callable[[], AbstractContextManager[None]]

SORRY = "I cannot read or write my memory right now. I will answer once I can. (reference "


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (catch_up, comeback):
        monkeypatch.setattr(module, "RETRY_AFTER", (0.2,))


async def limit(stage: Stage, pages: int) -> None:
    """Let the database have so many pages only, for the bot."""
    await stage.store.database.write(
        lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").close()
    )


async def tried_in_vain(caplog: pytest.LogCaptureFixture, times: int) -> None:
    """Return once the bot has tried so often whether the database can be written again."""
    await logged(caplog, "the database cannot be written", times)


@pytest.fixture
def locked(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Lock:
    """Keep the bot, while a block lasts, from writing."""
    monkeypatch.setattr(storage, "BUSY_SECONDS", 0.3)

    @contextmanager
    def lock() -> Iterator[None]:
        with closing(sqlite3.connect(stage.database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")

    return lock


async def test_an_answer_that_could_not_be_recorded_is_given_when_it_can(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    long = "word " * 3_000
    gate = stage.model.pauses("Let me see. ", then=long)
    stage.model.says(f"Here it is. {long}")
    async with stage.running():
        await stage.alice.says("tell me", in_=stage.desk)
        await gate.reached.wait()
        await limit(stage, 1)
        gate.release()
        sorry = await stage.says(stage.desk, SORRY)
        await tried_in_vain(caplog, 2)
        assert len(stage.model.requests) == 1
        await limit(stage, 1_000_000)
        await stage.says(stage.desk, "Here it is.")
        await stage.desk.until(lambda each: not any("Let me see." in m.content for m in each))
    said = stage.said(stage.desk)
    assert len([each for each in said if SORRY in each]) == 1
    assert len([each for each in said if "Here it is." in each]) == 1
    assert sorry.content.split()[-1].rstrip(")") in caplog.text


async def test_a_database_that_is_locked_for_long_is_told_and_then_goes_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(storage, "BUSY_SECONDS", 0.3)
    stage.model.says("Hello.").then("Hello again.").then("And you, Bob.")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
        with closing(sqlite3.connect(stage.database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await stage.alice.says("hello again", in_=stage.desk)
            await stage.says(stage.desk, SORRY)
            await stage.bob.says("and me?", in_=stage.desk)
            await tried_in_vain(caplog, 2)
            other.execute("ROLLBACK")
        await stage.says(stage.desk, "And you, Bob.")
    hello, sorry, *rest = stage.said(stage.desk)
    assert hello == "Hello."
    assert sorry.startswith(SORRY)
    assert rest == ["Hello again.", "And you, Bob."]


@pytest.mark.parametrize("act", ["Approve", "/approve", "Deny"])
async def test_a_decision_that_could_not_be_recorded_is_none_and_whose_it_is_hears_so(
    stage: Stage, act: str, locked: Lock, caplog: pytest.LogCaptureFixture
) -> None:
    stage.model.says(calls=[("delete_file", {"path": "old.txt"})]).then("So be it.")

    async def decide(card: Message) -> Answer:
        if act.startswith("/"):
            return await stage.mod.runs(act, in_=stage.desk)
        return await stage.mod.clicks(card, act)

    async with stage.running():
        await stage.alice.says("delete old.txt", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        with locked():
            told = await decide(card)
        assert told.text.startswith(NOT_DONE)
        assert told.text.split()[-1].rstrip(").") in caplog.text
        assert stage.tools.done == []
        assert card.buttons
        await decide(card)
        await stage.says(stage.desk, "So be it.")
    assert stage.tools.done == ([] if act == "Deny" else ["deleted old.txt"])
    assert not any(SORRY in each for each in stage.said(stage.desk))


async def test_a_yes_for_good_that_could_not_be_kept_is_told_to_be_one_for_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.model.says(calls=[("delete_file", {"path": "old.txt"})]).then("Gone.")
    monkeypatch.setattr(PolicyStore, "add", unreadable)
    async with stage.running():
        await stage.alice.says("delete old.txt", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        more = await stage.mod.clicks(card, "More…")
        assert more.message is not None
        told = await stage.mod.clicks(more.message, "Always here with exactly these arguments")
        assert told.text == ONCE
        await stage.says(stage.desk, "Gone.")
    assert stage.tools.done == ["deleted old.txt"]


async def test_what_is_commanded_or_pressed_in_vain_is_told_in_the_same_words(
    stage: Stage, locked: Lock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "RETRY_AFTER", (600.0,))  # what shows it does not wait as long
    stage.model.says("Hello.").then("Hello again.")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        answer = await stage.says(stage.desk, "Hello.")
        await answer.until(lambda message: bool(message.buttons))
        with locked():
            told = await stage.alice.runs("/remind", in_=stage.desk, when="in 1 day", text="tea")
            again = await stage.alice.clicks(answer, "Try again")
        assert told.text.startswith(NOT_DONE)
        assert again.text.startswith(NOT_DONE)
        await press(stage.alice, answer)
        answer = await stage.says(stage.desk, "Hello again.")
        await answer.until(lambda message: labels(message) == ["Try again"])
    assert not any(SORRY in each for each in stage.said(stage.desk))


async def test_what_is_open_and_cannot_be_read_at_the_start_goes_on_later(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gate = stage.model.hangs()
    async with stage.running() as client:
        await stage.alice.says("hello", in_=stage.desk)
        await gate.reached.wait()
        await stage.kill(client)
    stage.model.says("Hello.")
    with monkeypatch.context() as patch:
        patch.setattr(RestStore, "open", unreadable)
        async with stage.running():
            await logged(caplog, "what is open cannot be read", 1)
            patch.undo()
            await stage.says(stage.desk, "Hello.")


async def unreadable(*_: object, **__: object) -> Sequence[str]:
    raise StorageError("it cannot be read")


async def test_a_bot_on_a_full_disk_tells_so_and_goes_on_when_there_is_room(
    tmp_path: Path,
) -> None:
    with mounted(tmp_path / "disk", "1m") as folder:
        async with set_up() as home:
            home.model.says("Hello.").then("Two.").then("Three.")
            async with running("run", in_=folder, settings=home.settings) as process:
                await home.sandbox.connected(home.bot, PATIENCE)
                await home.alice.says("one", in_=home.desk)
                await home.said("Hello.")
                filler = fill(folder)
                await home.alice.says("two " * 400, in_=home.desk)
                await home.said(SORRY)
                await home.alice.says("three", in_=home.desk)
                filler.unlink()
                await home.desk.until(lambda each: said(each, "Three."), PATIENCE)
                end = await stopped(process)
        texts = [each.content for each in home.desk.messages if each.author is home.bot]
    assert [text for text in texts if not text.startswith(SORRY)] == ["Hello.", "Two.", "Three."]
    assert len(texts) == 4
    assert end.status == 0
    assert "database or disk is full" in end.err
    assert "Traceback" not in end.err


def said(messages: object, text: str) -> bool:
    assert isinstance(messages, list)
    return any(each.content == text for each in messages)
