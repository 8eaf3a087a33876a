"""What comes to the page late: commands, names and changes, after somebody has begun to type."""

import pytest
from playwright.async_api import expect

from bot.sandbox import Sandbox
from tests.page.conftest import talking
from tests.page.talker import Talker
from tests.page.visitor import Visitor
from tests.sandbox.clients import Home

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_form_opens_when_its_command_comes(visitor: Visitor, home: Home) -> None:
    await visitor.types("/approve ")
    async with talking(home):
        form = visitor.page.get_by_role("form", name="Command approve")
        await expect(form.get_by_role("combobox", name="request")).to_be_focused()


async def test_a_command_is_suggested_when_it_comes(visitor: Visitor, home: Home) -> None:
    await visitor.types("/res")
    async with talking(home):
        await expect(visitor.suggestions).to_contain_text(["/reset"])


async def test_a_name_is_suggested_when_its_owner_joins(visitor: Visitor, home: Home) -> None:
    await visitor.types("hello @new")
    home.guild.join(home.world.person("newcomer"))
    await expect(visitor.suggestions).to_have_text(["@newcomer"])
    await visitor.page.keyboard.press("Enter")
    await expect(visitor.text).to_have_value("hello @newcomer ")


async def test_what_was_typed_is_looked_at_when_one_comes_back_to_it(
    visitor: Visitor, home: Home
) -> None:
    await visitor.types("/res")
    await visitor.page.locator("#hood").focus()
    async with talking(home):
        await home.mod.says("There it is", in_=home.general)
        await expect(visitor.message("There it is")).to_be_visible()
        await visitor.text.focus()
        await expect(visitor.suggestions).to_contain_text(["/reset"])


async def test_news_run_nothing(visitor: Visitor, home: Home) -> None:
    """A command without options runs by a key, not because it came."""
    await visitor.types("/reset ")
    async with talking(home):
        await expect(visitor.suggestions).to_contain_text(["/reset"])
        assert not home.world.interactions
        await visitor.page.keyboard.press("Enter")
        await expect(visitor.message("This conversation begins anew.")).to_be_visible()


async def test_the_chosen_row_stays_whatever_comes(visitor: Visitor, home: Home) -> None:
    await visitor.types("@")
    await expect(visitor.suggestions.filter(has_text="mod")).to_be_visible()
    chosen = visitor.page.locator("#suggestions [aria-selected=true]")
    first = await chosen.inner_text()
    await visitor.page.keyboard.press("ArrowDown")
    await expect(chosen).not_to_have_text(first)
    name = await chosen.inner_text()
    await home.mod.types(in_=home.general)
    await expect(visitor.page.locator("#typing")).to_contain_text("mod is typing")
    await expect(chosen).to_have_text(name)
    home.guild.join(home.world.person("newcomer"))
    await expect(visitor.suggestions.filter(has_text="newcomer")).to_be_visible()
    await expect(chosen).to_have_text(name)


async def test_a_list_that_was_put_away_stays_away(visitor: Visitor, home: Home) -> None:
    await visitor.types("@")
    await expect(visitor.suggestions.filter(has_text="mod")).to_be_visible()
    await visitor.page.keyboard.press("Escape")
    home.guild.join(home.world.person("newcomer"))
    await home.mod.says("They are here", in_=home.general)
    await expect(visitor.message("They are here")).to_be_visible()
    await expect(visitor.suggestions).to_have_count(0)
    await visitor.types("new")
    await expect(visitor.suggestions).to_have_text(["@newcomer"])


async def test_a_form_follows_its_command(visitor: Visitor, talker: Talker) -> None:
    await visitor.types("/say ")
    form = visitor.page.get_by_role("form", name="Command say")
    await form.get_by_label("text").fill("ahoy")
    await talker.says_to_whom()
    await expect(form.get_by_label("to")).to_be_visible()
    await expect(form.get_by_label("times")).to_have_count(0)
    await expect(form.get_by_label("text")).to_have_value("ahoy")
    await expect(form.get_by_label("text")).to_be_focused()
    await visitor.page.keyboard.press("Tab")
    await visitor.page.get_by_role("option", name="@mod").click()
    await visitor.page.keyboard.press("Enter")
    await expect(visitor.message("ahoy, mod")).to_be_visible()


async def test_a_form_closes_when_its_command_goes(visitor: Visitor, talker: Talker) -> None:
    await visitor.types("/say ")
    form = visitor.page.get_by_role("form", name="Command say")
    await expect(form).to_be_visible()
    await talker.forgets("say")
    await expect(form).to_be_hidden()
    await expect(visitor.page.locator("#trouble")).to_have_text("There is no /say any more.")
    await expect(visitor.text).to_be_focused()


async def test_an_option_offers_who_joins(visitor: Visitor, home: Home, talker: Talker) -> None:
    await talker.says_to_whom()
    await home.mod.says("It asks to whom", in_=home.general)
    await expect(visitor.message("to whom")).to_be_visible()
    await visitor.types("/say ")
    await visitor.page.get_by_role("combobox", name="to").fill("new")
    home.guild.join(home.world.person("newcomer"))
    await expect(visitor.suggestions).to_have_text(["@newcomer"])


async def test_a_menu_offers_who_joined(visitor: Visitor, home: Home, talker: Talker) -> None:
    await visitor.writes("menus")
    menu = visitor.page.get_by_role("combobox", name="Pick a friend")
    await expect(menu).to_be_visible()
    newcomer = home.world.person("newcomer")
    home.guild.join(newcomer)
    await newcomer.says("I am here", in_=home.general)
    await expect(visitor.message("I am here")).to_be_visible()
    await menu.click()
    await visitor.page.get_by_role("option", name="@newcomer").click()
    await expect(visitor.message("Hello @newcomer")).to_be_visible()


async def test_a_mention_gets_its_name_when_it_comes(visitor: Visitor, home: Home) -> None:
    """A mention is drawn by the names that are known, and again when more are."""
    await home.mod.says(f"see {home.general.mention}", in_=home.general)
    mention = visitor.message("see").locator(".mention")
    await expect(mention).to_have_text("#general")
    home.general.name = "harbour"
    home.guild.join(home.world.person("newcomer"))
    await expect(mention).to_have_text("#harbour")


async def test_nothing_is_lost_under_a_pressed_finger(visitor: Visitor, home: Home) -> None:
    """News of a place redraw the list of places, but not between a press and its release."""
    place = visitor.page.locator("#places .place", has_text="announcements")
    await place.hover()
    await visitor.page.mouse.down()
    await home.mod.says("news", in_=home.guild.channels[1])
    await home.mod.says("here", in_=home.general)
    await expect(visitor.message("here")).to_be_visible()
    await visitor.page.mouse.up()
    await expect(visitor.page.locator("#title")).to_have_text("#announcements")
    await home.mod.says("more", in_=home.general)
    await expect(visitor.page.locator("#places .unread")).to_contain_text("general")


async def test_a_choice_of_emoji_goes_with_its_message(visitor: Visitor, home: Home) -> None:
    said = await home.mod.says("a plan", in_=home.general)
    await visitor.message("a plan").hover()
    await visitor.page.get_by_role("button", name="Add reaction").click()
    await expect(visitor.page.get_by_role("button", name="React with ☕")).to_be_visible()
    await home.mod.deletes(said)
    await home.mod.says("another", in_=home.general)
    await visitor.message("another").hover()
    await expect(visitor.page.get_by_role("button", name="Reply")).to_be_visible()


async def test_requests_are_listed_once_after_a_lost_connection(
    visitor: Visitor, sandbox: Sandbox, home: Home
) -> None:
    commands = visitor.page.locator("#requests tr", has_text="commands")
    async with talking(home):
        await visitor.page.locator("#hood").click()
        await expect(commands).to_have_count(1)
    async with visitor.page.expect_response("**/page/requests"):
        async with sandbox.network.gone():
            await expect(visitor.page.locator("#lost")).to_be_visible()
    await expect(visitor.page.locator("#lost")).to_be_hidden()
    async with talking(home):
        await visitor.writes("ask")
        await expect(visitor.page.locator("#requests")).to_contain_text("#general/messages")
        await expect(commands).to_have_count(2)
