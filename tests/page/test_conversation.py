"""Writing and reading, in a real browser and with a real client on the other side."""

import re

import pytest
from playwright.async_api import expect

from tests.page.talker import WORDS, Talker
from tests.page.visitor import Visitor
from tests.sandbox.clients import Home

pytestmark = pytest.mark.asyncio(loop_scope="session")

GROWN = " ".join(WORDS)
EVIL = "<img src=x onerror=\"document.title='run'\"> **<b>bold</b>**"


async def test_an_answer_grows_while_one_watches(visitor: Visitor, talker: Talker) -> None:
    talker.may_go_on.clear()
    await visitor.writes("please stream")
    answer = visitor.message(WORDS[0])
    await expect(answer).to_contain_text("Every answer begins small, and")
    await expect(answer).not_to_contain_text("grows")
    stop = answer.get_by_role("button", name="Stop")
    await stop.focus()
    await visitor.page.evaluate("window.stop_button = document.activeElement")
    talker.may_go_on.set()
    await expect(answer).to_contain_text(GROWN)
    await expect(answer.locator(".reply")).to_contain_text("alice")
    await expect(answer.locator(".edited")).to_be_visible()
    await expect(stop).to_have_count(0)
    # It was one and the same button, focus and all, as long as there was any.
    gone = "stop_button.textContent === 'Stop' && !stop_button.isConnected"
    assert await visitor.page.evaluate(gone)


async def test_an_edit_touches_one_message(visitor: Visitor, home: Home) -> None:
    said = [await home.mod.says(f"number {count}", in_=home.general) for count in range(50)]
    await expect(visitor.message("number 49")).to_be_visible()
    await visitor.page.evaluate("""() => {
        window.touched = new Set();
        new MutationObserver((seen) => seen.forEach((each) => {
            const item = each.target.closest?.("li.message") ?? each.target.parentElement;
            window.touched.add(item?.id ?? each.target.id);
        })).observe(document.getElementById("messages"), { childList: true, subtree: true,
            characterData: true });
    }""")
    await home.mod.edits(said[10], "another text")
    await expect(visitor.messages.nth(10)).to_contain_text("another text")
    touched = await visitor.page.evaluate("[...window.touched]")
    assert touched == [f"message-{said[10].id}"]


async def test_the_bot_types_until_it_speaks(visitor: Visitor, talker: Talker) -> None:
    talker.may_begin.clear()
    await visitor.writes("stream")
    typing = visitor.page.locator("#typing")
    await expect(typing).to_contain_text("Parley is typing")
    talker.may_begin.set()
    await expect(visitor.message(WORDS[0])).to_be_visible()
    await expect(typing).to_be_empty()


async def test_a_long_answer_comes_in_messages_with_its_code(
    visitor: Visitor, talker: Talker
) -> None:
    await visitor.writes("long")
    await expect(visitor.messages.filter(has_text="The keeper wrote line 70 into")).to_have_count(2)
    code = visitor.page.locator("pre code")
    await expect(code).to_have_attribute("data-language", "python")
    assert await code.inner_text() == (
        "def light(lamp):\n    return lamp.on()  # <b>not markup</b>"
    )
    texts = await visitor.messages.locator(".content").all_inner_texts()
    assert sum(len(each) for each in texts) > 5000


async def test_nothing_that_people_write_runs(visitor: Visitor, home: Home) -> None:
    await visitor.writes(EVIL)
    message = visitor.message("onerror")
    await expect(message.locator(".content")).to_have_text(
        "<img src=x onerror=\"document.title='run'\"> <b>bold</b>"
    )
    await expect(message.locator("strong", has_text="<b>bold</b>")).to_be_visible()
    await home.mod.opens_thread("<img src=x onerror=x>", on=home.general.messages[-1])
    await expect(visitor.page.locator("#places .threads")).to_contain_text("<img src=x")
    await expect(message.locator(".thread-card")).to_contain_text("<img src=x")
    assert await visitor.page.locator("#messages img, #places img").count() == 0
    assert await visitor.page.title() != "run"


async def test_one_reads_further_up_in_peace(visitor: Visitor, home: Home) -> None:
    for count in range(60):
        await home.mod.says(f"number {count}", in_=home.general)
    await expect(visitor.message("number 59")).to_be_in_viewport()
    await visitor.page.locator("#scroller").hover()
    await visitor.page.mouse.wheel(0, -900)
    newest = visitor.page.locator("#newest")
    await expect(newest).to_be_visible()
    before = await visitor.page.evaluate("document.getElementById('scroller').scrollTop")
    await home.mod.says("the latest", in_=home.general)
    await expect(newest).to_contain_text("1 new message")
    assert await visitor.page.evaluate("document.getElementById('scroller').scrollTop") == before
    await newest.click()
    await expect(visitor.message("the latest")).to_be_in_viewport()
    await expect(newest).to_be_hidden()


async def test_own_messages_are_changed_and_deleted(visitor: Visitor, home: Home) -> None:
    await visitor.writes("a tpyo for @mod in #general")
    await expect(visitor.message("a tpyo").locator(".mention")).to_have_text(["@mod", "#general"])
    await visitor.page.keyboard.press("ArrowUp")
    editor = visitor.page.get_by_role("textbox", name="Edit message")
    await expect(editor).to_have_value("a tpyo for @mod in #general")
    await editor.fill("a typo for @mod")
    await editor.press("Enter")
    await expect(visitor.message("a typo for @mod")).to_contain_text("(edited)")
    assert home.general.messages[-1].content == f"a typo for {home.mod.mention}"
    await visitor.message("a typo").hover()
    await visitor.page.get_by_role("button", name="Delete").click()
    await visitor.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(visitor.messages).to_have_count(0)
    assert home.general.messages == []


async def test_only_what_one_may_do_is_offered(visitor: Visitor, home: Home) -> None:
    await home.mod.says("not yours", in_=home.general)
    await visitor.message("not yours").hover()
    toolbar = visitor.page.get_by_role("toolbar")
    await expect(toolbar.get_by_role("button")).to_have_count(4)
    names = await toolbar.get_by_role("button").evaluate_all("all => all.map(one => one.title)")
    assert names == ["Add reaction", "Reply", "Forward", "Create thread"]
    await visitor.becomes("mod")
    await visitor.message("not yours").hover()
    await expect(toolbar.get_by_role("button", name="Delete")).to_be_visible()


async def test_a_reply_a_reaction_and_a_forward(visitor: Visitor, home: Home) -> None:
    said = await home.mod.says("the plan", in_=home.general)
    await visitor.message("the plan").hover()
    await visitor.page.get_by_role("button", name="Reply").click()
    await expect(visitor.page.locator("#replying")).to_contain_text("Replying to mod")
    await visitor.writes("a good one")
    await expect(visitor.message("a good one").locator(".reply")).to_contain_text("the plan")
    await visitor.messages.first.hover()
    await visitor.page.get_by_role("button", name="Add reaction").click()
    await visitor.page.get_by_role("button", name="React with ☕").click()
    chip = visitor.messages.first.get_by_role("button", name="☕, 1 reaction")
    await expect(chip).to_have_attribute("aria-pressed", "true")
    await chip.click()
    await expect(chip).to_have_count(0)
    await visitor.messages.first.hover()
    await visitor.page.get_by_role("button", name="Forward").click()
    await visitor.page.get_by_role("dialog").get_by_text("#announcements").click()
    await visitor.goes("announcements")
    await expect(visitor.messages.first.locator(".forwarded")).to_contain_text("the plan")
    await home.mod.deletes(said)
    await visitor.goes("general")
    await expect(visitor.messages.locator(".reply")).to_have_text("Original message was deleted")


async def test_a_thread_is_opened_and_a_bot_opens_one(visitor: Visitor, talker: Talker) -> None:
    await visitor.writes("a thread")
    await visitor.message("a thread").get_by_role("button", name="A story").click()
    await expect(visitor.page.locator("#title")).to_have_text("A story")
    await expect(visitor.message("It goes on in here.")).to_be_visible()
    await expect(visitor.messages.first.locator(".starter")).to_contain_text("a thread")
    await visitor.goes("general")
    await visitor.writes("worth talking about")
    await visitor.message("worth talking").hover()
    await visitor.page.get_by_role("button", name="Create thread").click()
    await visitor.page.get_by_label("Thread name").fill("Our talk")
    await visitor.page.keyboard.press("Enter")
    await expect(visitor.page.locator("#title")).to_have_text("Our talk")
    await expect(visitor.page.locator("#places .threads")).to_contain_text("Our talk")


async def test_files_pictures_and_embeds_are_shown(visitor: Visitor, talker: Talker) -> None:
    await visitor.writes("rich")
    report = visitor.message("The report")
    await expect(report.locator("img")).to_have_js_property("naturalWidth", 240)
    await expect(report.locator(".file")).to_contain_text("log.txt")
    await expect(report.locator(".embed")).to_contain_text("Sunny until noon")
    await expect(report.locator(".embed dt").first).to_have_text("Wind")
    await expect(visitor.message("rich").locator(".reactions")).to_contain_text("☀")


async def test_files_are_attached(visitor: Visitor, home: Home) -> None:
    files = [{"name": "notes.txt", "mimeType": "text/plain", "buffer": b"remember"}]
    await visitor.page.locator("#files").set_input_files(files)  # type: ignore[arg-type]
    await expect(visitor.page.locator("#attached")).to_contain_text("notes.txt")
    await visitor.writes("see")
    await expect(visitor.message("see").locator(".file")).to_contain_text("8 bytes")
    (file,) = home.general.messages[-1].attachments
    assert (file.filename, file.data, file.content_type) == ("notes.txt", b"remember", "text/plain")


async def test_a_long_paste_becomes_a_file(visitor: Visitor, home: Home) -> None:
    await visitor.page.locator("#text").fill("é" * 2001)
    await expect(visitor.page.locator("#left")).to_have_text("Will be sent as message.txt")
    await visitor.page.keyboard.press("Enter")
    await expect(visitor.messages.locator(".file")).to_contain_text("message.txt")
    assert home.general.messages[-1].attachments[0].data.decode() == "é" * 2001


async def test_what_is_refused_stays_in_the_box(visitor: Visitor, home: Home) -> None:
    home.guild.permits(home.guild.everyone, in_=home.general, deny=["ATTACH_FILES"])
    await expect(visitor.page.locator("#attach")).to_be_disabled()
    files = [{"name": "notes.txt", "mimeType": "text/plain", "buffer": b"remember"}]
    await visitor.page.locator("#files").set_input_files(files)  # type: ignore[arg-type]
    await visitor.writes("see")
    await expect(visitor.page.locator("#trouble")).to_contain_text("50013")
    await expect(visitor.page.locator("#text")).to_have_value("see")
    home.guild.permits(home.guild.everyone, in_=home.general, deny=["SEND_MESSAGES"])
    await expect(visitor.page.locator("#text")).to_be_disabled()


async def test_a_dm_is_opened_and_news_elsewhere_are_marked(visitor: Visitor, home: Home) -> None:
    await visitor.page.locator("#places .place", has_text="Parley").click()
    await expect(visitor.page.locator("#title")).to_have_text("@Parley")
    await visitor.writes("just you and me")
    await expect(visitor.message("just you and me")).to_be_visible()
    assert home.alice.dm(home.bot).messages[-1].content == "just you and me"
    unread = visitor.page.locator("#places .unread")
    await expect(unread).to_have_count(0)
    await home.mod.says("news", in_=home.general)
    await expect(unread).to_have_text(re.compile("general"))


async def test_a_lost_connection_is_told_and_made_up_for(visitor: Visitor, home: Home) -> None:
    await home.mod.says("before", in_=home.general)
    await expect(visitor.message("before")).to_be_visible()
    await visitor.page.context.set_offline(True)
    await visitor.writes("into the void")
    await expect(visitor.page.locator("#trouble")).to_contain_text("does not answer")
    await visitor.page.context.set_offline(False)
    await visitor.page.keyboard.press("Enter")
    await expect(visitor.message("into the void")).to_be_visible()
