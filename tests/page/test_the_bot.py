"""The real bot, as a visitor of the page meets it."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import clock, stage  # noqa: F401 - fixtures
from tests.e2e.stage import Stage
from tests.page.conftest import browsing, opened
from tests.page.visitor import Visitor

SENTENCE = "Every answer begins small and grows while one watches it, word by word. "
HALF = SENTENCE * 36
REST = f"\n```python\nprint('in the middle')\n```\n{HALF}The end."


@pytest.fixture
async def guest(stage: Stage) -> AsyncIterator[Visitor]:  # noqa: F811
    """A visitor who looks at the channel in which the bot answers everything."""
    place = str(stage.desk.id)
    async with browsing() as browser, opened(browser, stage.sandbox, place=place) as page:
        yield Visitor(page, stage)


async def test_a_long_answer_grows_and_is_whole(stage: Stage, guest: Visitor) -> None:  # noqa: F811
    gate = stage.model.pauses(HALF, REST)
    assert len(HALF + REST) > 5000
    async with stage.running():
        await guest.writes("tell me everything")
        await expect(guest.page.get_by_role("button", name="Stop").last).to_be_visible()
        await expect(guest.message(SENTENCE.strip())).to_be_visible()
        await expect(guest.message("in the middle")).to_have_count(0)
        gate.release()
        await expect(guest.message("The end.")).to_be_visible()
        await expect(guest.page.get_by_role("button", name="Stop")).to_have_count(0)
        await expect(guest.page.locator("pre code")).to_have_text("print('in the middle')")
        texts = await guest.messages.locator(".content").all_inner_texts()
    whole = " ".join(" ".join(texts).replace("(edited)", "").split())
    assert whole.count(SENTENCE.strip()) == 72


async def test_a_stranger_is_refused_and_a_moderator_approves(
    stage: Stage,  # noqa: F811
    guest: Visitor,
) -> None:
    stage.model.says(calls=[("delete_file", {"path": "old.txt"})]).then("It is gone.")
    async with stage.running():
        await guest.writes("delete old.txt")
        card = guest.message("May I run")
        await guest.becomes("bob")
        await card.get_by_role("button", name="Approve").click()
        await expect(guest.message("You may not decide")).to_contain_text("Only you can see this")
        assert stage.tools.done == []
        await guest.becomes("mod")
        await card.get_by_role("button", name="Approve").click()
        await expect(guest.message("Approved by @mod")).to_contain_text("ended well")
        await expect(guest.message("It is gone.")).to_be_visible()
    assert stage.tools.done == ["deleted old.txt"]


async def test_a_conversation_is_reset(stage: Stage, guest: Visitor) -> None:  # noqa: F811
    stage.model.says("Hello Alice.").then("Who are you?")
    async with stage.running():
        await guest.writes("I am Alice")
        await expect(guest.message("Hello Alice.")).to_be_visible()
        await guest.types("/reset")
        await expect(guest.suggestions).to_contain_text(["/reset"])
        await guest.page.keyboard.press("Enter")
        await expect(guest.messages.filter(has_text="used /reset")).to_be_visible()
        await expect(guest.page.locator("#messages > li[data-day]")).to_have_count(1)
        await guest.writes("who am I?")
        await expect(guest.message("Who are you?")).to_be_visible()
    assert len(stage.asked[1]) == 1
