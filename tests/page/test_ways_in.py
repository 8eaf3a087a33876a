"""By keyboard alone, on a phone, for the first time, without a token, and under the hood."""

import pytest
from playwright.async_api import BrowserContext, expect

from bot.sandbox import Sandbox
from tests.page.talker import Talker
from tests.page.visitor import Visitor
from tests.sandbox.clients import Home

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_keyboard_alone_is_enough(visitor: Visitor, talker: Talker) -> None:
    press = visitor.page.keyboard.press
    await press("Tab")
    await expect(visitor.page.get_by_role("link", name="Skip to the message box")).to_be_focused()
    await press("Enter")
    await expect(visitor.page.locator("#text")).to_be_focused()
    await visitor.page.keyboard.type("please ask")
    await press("Enter")
    await expect(visitor.message("May I run")).to_be_visible()

    await visitor.page.locator("#who").focus()
    await press("Enter")
    await press("Tab")
    await press("Enter")
    await expect(visitor.page.locator("#who strong")).to_have_text("mod")
    await expect(visitor.page.locator("#who")).to_be_focused()

    card = visitor.message("May I run")
    await expect(card).to_have_attribute("tabindex", "0")
    await card.focus()
    await press("ArrowUp")
    await expect(visitor.message("please ask")).to_be_focused()
    await press("ArrowDown")
    await press("Tab")
    await press("Tab")
    await expect(card.get_by_role("button", name="Approve")).to_be_focused()
    await press("Enter")
    await expect(visitor.message("Approved by @mod")).to_be_visible()


async def test_every_control_has_a_name(visitor: Visitor, talker: Talker) -> None:
    await visitor.writes("menus")
    await visitor.writes("rich")
    await expect(visitor.message("The report")).to_be_visible()
    await visitor.page.locator("#hood").click()
    nameless = await visitor.page.evaluate("""() => {
        const controls = document.querySelectorAll("button, a, input:not([hidden]), textarea");
        const named = (each) => each.getAttribute("aria-label") || each.textContent.trim()
            || each.querySelector("img[alt]") || document.querySelector(`label[for="${each.id}"]`);
        return [...controls].filter((each) => !named(each)).map((each) => each.outerHTML);
    }""")
    assert nameless == []
    landmarks = await visitor.page.locator("main, nav, aside, [aria-live]").count()
    assert landmarks >= 5


async def test_an_answer_is_read_out_once_it_is_whole(visitor: Visitor, talker: Talker) -> None:
    await visitor.writes("stream")
    spoken = visitor.page.locator("#spoken p")
    await expect(spoken).to_have_count(1)
    await expect(spoken).to_contain_text("Parley: Every answer begins small")
    await expect(spoken).to_contain_text("watch it.")


async def test_it_fits_a_phone(phone: Visitor, talker: Talker) -> None:
    width = "document.documentElement.scrollWidth"
    await phone.writes("long")
    await phone.writes("menus")
    await phone.writes("rich")
    await expect(phone.message("The report")).to_be_visible()
    assert await phone.page.evaluate(width) == 390
    side = phone.page.locator("#side")
    await expect(side).to_be_hidden()
    await phone.page.get_by_role("button", name="Channels and people").click()
    await expect(side).to_be_visible()
    await phone.goes("announcements")
    await expect(side).to_be_hidden()
    await phone.page.locator("#hood").click()
    await expect(phone.page.get_by_role("heading", name="Under the hood")).to_be_visible()
    assert await phone.page.evaluate(width) == 390


async def test_a_first_visitor_has_three_things_to_try(
    visitor: Visitor, home: Home, restarts: list[str], talker: Talker
) -> None:
    notice = visitor.page.locator("#notice")
    await expect(notice.locator("code")).to_have_text(["OPENAI_API_KEY", ".env"])
    suggestions = visitor.page.locator("#welcome .suggestion")
    await expect(suggestions).to_have_count(3)
    for at in range(3):
        await suggestions.nth(at).click()
        await expect(visitor.messages).to_have_count(at + 1)
    announcements = home.guild.channels[1]
    mention = home.bot.mention
    assert [each.content for each in home.general.messages] == [
        f"{mention} my name is Alice",
        f"{mention} announce Dinner is ready in {announcements.mention}",
        f"{mention} what's my name?",
    ]
    assert restarts == ["restarted"]
    await expect(visitor.page.locator("#welcome")).to_be_hidden()
    await notice.get_by_role("button", name="Dismiss").click()
    await visitor.page.reload()
    await expect(visitor.messages).to_have_count(3)
    await expect(notice).to_be_hidden()


async def test_a_suggestion_is_followed_into_its_thread(visitor: Visitor, home: Home) -> None:
    await visitor.page.locator("#welcome .suggestion").first.click()
    await expect(visitor.messages).to_have_count(1)
    await home.mod.opens_thread("Alice", on=home.general.messages[-1])
    await expect(visitor.page.locator("#title")).to_have_text("Alice")


async def test_the_token_leaves_the_address_and_is_kept_for_the_tab(
    visitor: Visitor, browser: BrowserContext, sandbox: Sandbox
) -> None:
    assert "token" not in visitor.page.url
    await visitor.page.reload()
    await visitor.writes("still here")
    await expect(visitor.message("still here")).to_be_visible()
    async with await browser.new_page() as page:
        await page.goto(sandbox.url)
        await expect(page.locator("#reading")).to_be_visible()
        await page.locator("#text").fill("may I?")
        await page.keyboard.press("Enter")
        await expect(page.locator("#trouble")).to_contain_text("only read")


async def test_the_curious_look_under_the_hood(visitor: Visitor, talker: Talker) -> None:
    panel = visitor.page.locator("#panel")
    await expect(panel).to_be_hidden()
    await visitor.page.locator("#hood").click()
    rows = visitor.page.locator("#requests tr")
    await expect(rows.first).to_contain_text("200")
    await visitor.writes("ask")
    await expect(rows.first).to_contain_text("#general/messages")
    await panel.get_by_role("button", name="Take or give back").click()
    await expect(visitor.page.locator("#broken")).to_have_text(
        "Parley may not write any more in #general."
    )
    await panel.get_by_role("button", name="Drop the gateway").click()
    await expect(visitor.page.locator("#broken")).to_contain_text("connection was dropped")
    await panel.get_by_role("button", name="Close the panel").click()
    await expect(visitor.page.locator("#hood")).to_be_focused()


async def test_dark_or_light(visitor: Visitor) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    await visitor.page.emulate_media(color_scheme="dark")
    dark = await visitor.page.evaluate(ground)
    await visitor.page.emulate_media(color_scheme="light")
    light = await visitor.page.evaluate(ground)
    assert dark != light
    await visitor.page.locator("#theme").click()
    assert await visitor.page.evaluate(ground) == dark
    await visitor.page.reload()
    assert await visitor.page.evaluate(ground) == dark
