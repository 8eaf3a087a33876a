"""Answers that come to the page late: when one has gone on, typed more, or pressed again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from playwright.async_api import BrowserContext, Page, Route, expect

from bot.sandbox import Sandbox
from tests.page.talker import Talker
from tests.page.visitor import Visitor
from tests.sandbox.clients import Home

pytestmark = pytest.mark.asyncio(loop_scope="session")

REFUSED = "That is refused."


@dataclass
class Held:
    """Requests of one kind that have left the page, and got no further."""

    arrived: asyncio.Queue[Route] = field(default_factory=asyncio.Queue)
    count: int = 0
    is_open: bool = False

    async def take(self, route: Route) -> None:
        self.count += 1
        if self.is_open:
            await route.continue_()
        else:
            self.arrived.put_nowait(route)

    async def refuse(self) -> None:
        route = await self.arrived.get()
        await route.fulfill(status=400, json={"error": REFUSED})

    async def release(self) -> None:
        first = await self.arrived.get()
        self.is_open = True
        await first.continue_()


@asynccontextmanager
async def held(page: Page, action: str) -> AsyncIterator[Held]:
    """Hold what the page asks for, until the test lets it go on."""
    held = Held()
    await page.route(f"**/page/{action}", held.take)
    yield held
    held.is_open = True
    await page.unroute_all(behavior="wait")


async def test_messages_arrive_in_the_order_of_writing(visitor: Visitor, home: Home) -> None:
    async with held(visitor.page, "says") as says:
        await visitor.writes("one")
        await visitor.writes("two")
        await expect(visitor.text).to_have_value("")
        await says.release()
        await expect(visitor.messages).to_have_count(2)
    assert [each.content for each in home.general.messages] == ["one", "two"]


async def test_what_is_refused_comes_back_above_what_was_typed_since(visitor: Visitor) -> None:
    async with held(visitor.page, "says") as says:
        await visitor.writes("one")
        await visitor.types("two")
        await says.refuse()
        await expect(visitor.page.locator("#trouble")).to_have_text(REFUSED)
        await expect(visitor.text).to_have_value("one\ntwo")


async def test_what_is_refused_after_one_left_is_told_and_not_said_elsewhere(
    visitor: Visitor,
) -> None:
    async with held(visitor.page, "says") as says:
        await visitor.writes("only here")
        await visitor.goes("announcements")
        await says.refuse()
        await expect(visitor.page.locator("#trouble")).to_contain_text("“only here”")
        await expect(visitor.text).to_have_value("")


async def test_a_command_runs_once_however_often_enter_is_pressed(
    visitor: Visitor, talker: Talker, home: Home
) -> None:
    await visitor.types("/say ")
    form = visitor.page.get_by_role("form", name="Command say")
    await form.get_by_label("text").fill("ahoy")
    async with held(visitor.page, "runs") as runs:
        await visitor.page.keyboard.press("Enter")
        await visitor.page.keyboard.press("Enter")
        await runs.release()
        await expect(form).to_be_hidden()
        await home.mod.says("and then", in_=home.general)
        await expect(visitor.message("and then")).to_be_visible()
        assert runs.count == 1


async def test_an_answer_leaves_another_form_open(visitor: Visitor, talker: Talker) -> None:
    await visitor.types("/say ")
    await visitor.page.get_by_label("text").fill("ahoy")
    async with held(visitor.page, "runs") as runs:
        await visitor.page.keyboard.press("Enter")
        await expect(visitor.messages.filter(has_text="Sending /say")).to_be_visible()
        await visitor.page.keyboard.press("Escape")
        await visitor.types("/approve ")
        await runs.release()
        await expect(visitor.message("ahoy")).to_be_visible()
        await expect(visitor.messages.filter(has_text="Sending /say")).to_have_count(0)
        await expect(visitor.page.get_by_role("form", name="Command approve")).to_be_visible()


async def test_choices_that_come_late_are_not_shown(visitor: Visitor, talker: Talker) -> None:
    await visitor.types("/approve ")
    async with held(visitor.page, "completes") as completes:
        option = visitor.page.get_by_role("combobox", name="request")
        await option.fill("de")
        first = await completes.arrived.get()
        await visitor.page.keyboard.press("Escape")
        await visitor.types("/say ")
        await expect(visitor.page.get_by_label("text")).to_be_focused()
        async with visitor.page.expect_response("**/page/completes"):
            await first.continue_()
        await visitor.page.keyboard.press("Tab")
        await expect(visitor.suggestions).to_have_count(0)


async def test_a_form_that_is_left_while_it_waits_asks_nothing(
    visitor: Visitor, talker: Talker
) -> None:
    """Choices are asked for after a rest in typing; by then another form can be open."""
    await visitor.types("/approve ")
    async with held(visitor.page, "completes") as completes:
        await visitor.page.evaluate("""() => {
            window.rests = [];
            window.setTimeout = (run) => window.rests.push(run);
        }""")
        await visitor.page.get_by_role("combobox", name="request").fill("de")
        await visitor.page.keyboard.press("Escape")
        await visitor.types("/say ")
        await visitor.page.evaluate("window.rests.forEach((run) => run())")
        await expect(visitor.page.get_by_label("text")).to_be_focused()
        assert completes.count == 0


async def test_a_form_is_not_opened_where_it_was_not_asked_for(
    visitor: Visitor, talker: Talker
) -> None:
    await visitor.writes("form")
    async with held(visitor.page, "clicks") as clicks:
        await visitor.page.get_by_role("button", name="Fill in").click()
        route = await clicks.arrived.get()
        await visitor.becomes("mod")
        async with visitor.page.expect_response("**/page/clicks") as response:
            await route.continue_()
        assert "modal" in await (await response.value).json()
        await visitor.writes("nothing opened")
        await expect(visitor.message("nothing opened")).to_be_visible()
        await expect(visitor.page.get_by_role("dialog")).to_have_count(0)


async def test_nothing_is_written_before_one_knows_who_one_is(
    browser: BrowserContext, sandbox: Sandbox
) -> None:
    async with await browser.new_page() as page, held(page, "live?*") as live:
        await page.goto(sandbox.page_url)
        route = await live.arrived.get()
        await expect(page.locator("#text")).to_be_disabled()
        await page.locator("#who").click()
        live.is_open = True
        await route.continue_()
        await expect(page.locator("#text")).to_be_enabled()
