"""Commands, buttons, menus and forms, clicked in a real browser."""

import pytest
from playwright.async_api import expect

from tests.page.talker import Talker
from tests.page.visitor import Visitor
from tests.sandbox.clients import Home

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_command_is_chosen_and_its_answer_is_ones_own(
    visitor: Visitor, talker: Talker, home: Home
) -> None:
    await visitor.page.locator("#text").press_sequentially("/res")
    await expect(visitor.page.locator("#suggestions li")).to_have_count(1)
    await visitor.page.keyboard.press("Enter")
    answer = visitor.message("This conversation begins anew.")
    await expect(answer).to_contain_text("Only you can see this")
    await expect(answer.locator(".reply")).to_contain_text("alice used /reset")
    await home.mod.says("and then", in_=home.general)
    await visitor.becomes("mod")
    await expect(visitor.message("and then")).to_be_visible()
    await expect(answer).to_have_count(0)
    await visitor.becomes("alice")
    await answer.get_by_role("button", name="Dismiss message").click()
    await expect(answer).to_have_count(0)


async def test_options_are_filled_in(visitor: Visitor, talker: Talker) -> None:
    await visitor.page.locator("#text").press_sequentially("/say ")
    form = visitor.page.get_by_role("form", name="Command say")
    await expect(form.get_by_label("text")).to_be_focused()
    await visitor.page.keyboard.press("Enter")
    await expect(form.get_by_role("alert")).to_have_text("“text” is required")
    await form.get_by_label("text").fill("ahoy")
    await form.get_by_label("times").fill("many")
    await visitor.page.keyboard.press("Enter")
    await expect(form.get_by_role("alert")).to_contain_text("'many' is none")
    await form.get_by_label("times").fill("9")
    await visitor.page.keyboard.press("Enter")
    await expect(form.get_by_role("alert")).to_contain_text("not between 1 and 3")
    await form.get_by_label("times").fill("2")
    await visitor.page.keyboard.press("Enter")
    await expect(visitor.message("ahoy ahoy")).to_be_visible()
    await expect(form).to_be_hidden()
    await expect(visitor.page.locator("#text")).to_be_focused()


async def test_an_option_completes(visitor: Visitor, talker: Talker) -> None:
    await visitor.page.locator("#text").press_sequentially("/approve ")
    await visitor.page.get_by_role("combobox", name="request").press_sequentially("de")
    await visitor.page.get_by_role("option", name="Delete").click()
    await visitor.page.keyboard.press("Enter")
    await expect(visitor.message("approved id-delete")).to_be_visible()


async def test_a_moderator_approves(visitor: Visitor, talker: Talker) -> None:
    await visitor.writes("may I ask")
    await visitor.becomes("mod")
    card = visitor.message("May I run")
    await card.get_by_role("button", name="Approve").click()
    done = visitor.message("Approved by @mod")
    await expect(done).to_contain_text("ended well")
    await expect(done.get_by_role("button", name="Approve")).to_have_count(0)


async def test_a_stranger_is_refused_privately(
    visitor: Visitor, talker: Talker, home: Home
) -> None:
    home.guild.join(home.world.person("stranger"))
    await visitor.writes("may I ask")
    await visitor.becomes("stranger")
    await visitor.message("May I run").get_by_role("button", name="Approve").click()
    refusal = visitor.message("You may not decide this.")
    await expect(refusal).to_contain_text("Only you can see this")
    await visitor.becomes("mod")
    await expect(visitor.message("May I run")).to_be_visible()
    await expect(refusal).to_have_count(0)


async def test_a_click_that_nobody_answers_has_failed(
    visitor: Visitor, talker: Talker, home: Home
) -> None:
    home.world.ack_timeout = 0.2
    await visitor.writes("vain")
    card = visitor.message("Go on, click")
    await card.get_by_role("button", name="Ask in vain").click()
    await expect(card.get_by_role("alert")).to_have_text("This interaction failed")
    await visitor.writes("/sulk")
    await expect(visitor.message("This interaction failed")).to_contain_text("/sulk")
    await visitor.page.get_by_role("button", name="Dismiss").last.click()


async def test_menus_choose_one_several_and_people(visitor: Visitor, talker: Talker) -> None:
    await visitor.writes("menus")
    await visitor.page.get_by_role("combobox", name="Pick a colour").click()
    await visitor.page.get_by_role("option", name="Blue").click()
    await expect(visitor.message("You chose blue.")).to_be_visible()
    fruit = visitor.page.get_by_role("combobox", name="Pick fruit")
    await fruit.focus()
    for key in ("ArrowDown", "Enter", "ArrowDown", "ArrowDown", " ", "Escape"):
        await visitor.page.keyboard.press(key)
    await expect(visitor.message("Fruit: Apple, Fig")).to_be_visible()
    await visitor.page.get_by_role("combobox", name="Pick a friend").click()
    await visitor.page.get_by_role("option", name="@mod").click()
    await expect(visitor.message("Hello @mod")).to_be_visible()


async def test_a_form_is_filled_in(visitor: Visitor, talker: Talker) -> None:
    await visitor.writes("form")
    await visitor.page.get_by_role("button", name="Fill in").click()
    dialog = visitor.page.get_by_role("dialog", name="Why?")
    await expect(dialog.get_by_label("Reason")).to_be_focused()
    await dialog.get_by_label("Reason").fill("of the wind")
    await dialog.get_by_role("button", name="Submit").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("to be chosen")
    await dialog.get_by_role("combobox", name="Mood").click()
    await dialog.get_by_role("option", name="Sure", exact=True).click()
    await dialog.get_by_role("button", name="Submit").click()
    await expect(visitor.message("Because of the wind (sure)")).to_be_visible()
    await expect(dialog).to_have_count(0)


async def test_a_form_that_is_not_taken_stays(visitor: Visitor, talker: Talker, home: Home) -> None:
    await visitor.writes("form")
    await visitor.page.get_by_role("button", name="Fill in").click()
    dialog = visitor.page.get_by_role("dialog", name="Why?")
    await dialog.get_by_label("Reason").fill("of the wind")
    await dialog.get_by_role("combobox", name="Mood").click()
    await dialog.get_by_role("option", name="Unsure").click()
    home.world.ack_timeout = 0
    await dialog.get_by_role("button", name="Submit").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("Something went wrong")
    await expect(dialog.get_by_label("Reason")).to_have_value("of the wind")
