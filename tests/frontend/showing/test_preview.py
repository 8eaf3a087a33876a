import asyncio
from dataclasses import replace

from bot.frontend.refusals import MessageGoneError, UnavailableError
from bot.frontend.showing.draft import Subject
from bot.frontend.showing.pacing import Kind, Pacing
from bot.frontend.showing.preview import Previews
from bot.frontend.tasks import Tasks
from bot.frontend.view.shown import Shown

SUBJECT = Subject(session_id="dm-1", turn_id="turn-1", name="m0", reply_to="discord-5")


class Page:
    """Where a preview writes; `written` is set at each write, which fails if it is to."""

    def __init__(self, *fails: Exception) -> None:
        self.lines: list[Shown] = []
        self.fails = list(fails)
        self.written = asyncio.Event()

    async def write(self, session_id: str, shown: Shown) -> None:
        self.lines.append(shown)
        self.written.set()
        if self.fails:
            raise self.fails.pop(0)

    async def next(self) -> Shown:
        await self.written.wait()
        self.written.clear()
        return self.lines[-1]


def hurried() -> Pacing:
    """Return the pacing of a channel with very much room."""
    pacing = Pacing()
    for kind in Kind:
        room = {"Limit": "10000", "Remaining": "9999", "Reset-After": "1", "Bucket": kind}
        headers = {f"X-RateLimit-{name}": value for name, value in room.items()}
        pacing.learn(kind, "/api/v10/channels/1/messages", 200, headers)
    return pacing


async def at_once() -> None:
    """Nothing has to be waited for."""


async def test_the_first_text_is_written_at_once_and_the_rest_in_one_edit() -> None:
    page, tasks = Page(), Tasks()
    previews = Previews(write=page.write, pacing=hurried(), tasks=tasks)
    preview = previews.of(SUBJECT, after=at_once)
    preview.add("Once")
    first = await page.next()
    for word in (" upon", " a", " time"):
        preview.add(word)
    second = await page.next()
    await previews.end("dm-1")
    await tasks.cancel()
    assert (first.content, first.reply_to, first.final) == ("Once …", "discord-5", False)
    assert second.content == "Once upon a time …"
    assert len(page.lines) == 2


async def test_only_the_last_part_has_the_stop_button() -> None:
    page, tasks = Page(), Tasks()
    previews = Previews(write=page.write, pacing=hurried(), tasks=tasks)
    preview = previews.of(SUBJECT, after=at_once)
    preview.add("word " * 300)
    await page.next()
    preview.add("word " * 300)
    while len(page.lines) < 3:
        await page.next()
    await previews.end("dm-1")
    await tasks.cancel()
    latest = {each.key.part: each for each in page.lines}
    assert [bool(latest[part].buttons) for part in (0, 1)] == [False, True]
    assert latest[1].buttons[0].custom_id == "stop:turn-1:m0:1"


async def test_a_note_stands_until_there_is_text() -> None:
    page, tasks = Page(), Tasks()
    previews = Previews(write=page.write, pacing=hurried(), tasks=tasks)
    preview = previews.of(SUBJECT, after=at_once)
    preview.note("One moment.")
    note = await page.next()
    preview.add("Hello")
    text = await page.next()
    await tasks.cancel()
    assert [note.content, text.content] == ["One moment.", "Hello …"]


async def test_nothing_is_written_once_it_is_closed() -> None:
    page, tasks = Page(), Tasks()
    previews = Previews(write=page.write, pacing=hurried(), tasks=tasks)
    preview = previews.of(SUBJECT, after=at_once)
    await previews.settle("dm-1", closed={"turn-1"}, recorded=())
    preview.add("late")
    assert await tasks.finish(1.0)
    assert page.lines == []


async def test_a_preview_that_goes_on_is_left_alone() -> None:
    page, tasks = Page(), Tasks()
    previews = Previews(write=page.write, pacing=hurried(), tasks=tasks)
    preview = previews.of(SUBJECT, after=at_once)
    await previews.settle("dm-1", closed={"turn-0"}, recorded={("turn-1", "m1")})
    assert previews.of(SUBJECT, after=at_once) is preview
    preview.add("on")
    await page.next()
    await tasks.cancel()


async def test_a_deleted_preview_is_not_written_again() -> None:
    page, tasks = Page(MessageGoneError("gone")), Tasks()
    previews = Previews(write=page.write, pacing=hurried(), tasks=tasks)
    preview = previews.of(SUBJECT, after=at_once)
    preview.add("one")
    await page.next()
    preview.add("two")
    assert await tasks.finish(1.0)
    assert len(page.lines) == 1


async def test_a_discord_that_fails_is_written_to_again() -> None:
    page, tasks = Page(UnavailableError("503")), Tasks()
    previews = Previews(write=page.write, pacing=hurried(), tasks=tasks)
    preview = previews.of(SUBJECT, after=at_once)
    preview.add("one")
    await page.next()
    preview.add(" two")
    second = await page.next()
    await tasks.cancel()
    assert second.content == "one two …"


async def test_a_tool_at_work_is_a_line_that_the_text_replaces() -> None:
    page, tasks = Page(), Tasks()
    previews = Previews(write=page.write, pacing=hurried(), tasks=tasks, quick=0.0)
    preview = previews.of(SUBJECT, after=at_once)
    preview.working(["roll_dice"])
    line = await page.next()
    preview.working(["roll_dice", "bad`name"])
    both = await page.next()
    preview.working([])
    preview.add("Six")
    text = await page.next()
    await tasks.cancel()
    assert line.content == "-# Using `roll_dice`…"
    assert both.content == "-# Using `roll_dice`, `badname`…"
    assert (line.key, both.key.subject, text.key.subject) == (both.key, "status", "m0")
    assert [each.content for each in page.lines] == [line.content, both.content, "Six …"]


async def test_a_quick_tool_is_not_told_of() -> None:
    page, tasks = Page(), Tasks()
    previews = Previews(write=page.write, pacing=hurried(), tasks=tasks, quick=0.001)
    preview = previews.of(SUBJECT, after=at_once)
    preview.working(["roll_dice"])
    preview.working([])
    slow = previews.of(replace(SUBJECT, session_id="dm-2"), after=at_once)
    slow.working(["search"])
    assert (await page.next()).content == "-# Using `search`…"
    await tasks.cancel()
    assert len(page.lines) == 1


async def test_the_line_stays_where_it_is_for_the_tools_of_the_next_call() -> None:
    page, tasks = Page(), Tasks()
    previews = Previews(write=page.write, pacing=hurried(), tasks=tasks, quick=0.0)
    preview = previews.of(SUBJECT, after=at_once)
    preview.working(["roll_dice"])
    await page.next()
    preview.working([])
    again = previews.of(replace(SUBJECT, name="m1"), after=at_once)
    assert again is preview
    again.working(["search"])
    second = await page.next()
    again.add("Found")
    text = await page.next()
    await tasks.cancel()
    assert second.key == page.lines[0].key
    assert text.key.subject == "m1"


async def test_the_next_call_begins_when_what_is_on_its_way_has_arrived() -> None:
    page, tasks, sent = Page(), Tasks(), asyncio.Event()

    async def slowly(session_id: str, shown: Shown) -> None:
        await page.write(session_id, shown)
        await sent.wait()

    previews = Previews(write=slowly, pacing=hurried(), tasks=tasks)
    previews.of(SUBJECT, after=at_once).add("Before")
    await page.next()
    after = previews.of(replace(SUBJECT, name="m1"), after=at_once)
    after.add("After")
    settled = tasks.task(previews.settle("dm-1", closed=(), recorded={("turn-1", "m0")}), name="s")
    await asyncio.sleep(0)
    assert not settled.done()
    assert len(page.lines) == 1
    sent.set()
    await settled
    assert (await page.next()).content == "After …"
    await tasks.cancel()
    assert [each.key.subject for each in page.lines] == ["m0", "m1"]


async def test_who_ends_what_is_previewed_waits_for_what_is_still_on_its_way() -> None:
    page, tasks, sent = Page(), Tasks(), asyncio.Event()

    async def slowly(session_id: str, shown: Shown) -> None:
        await page.write(session_id, shown)
        await sent.wait()

    previews = Previews(write=slowly, pacing=hurried(), tasks=tasks)
    previews.of(SUBJECT, after=at_once).add("Before")
    await page.next()
    previews.of(replace(SUBJECT, name="m1"), after=at_once).add("After")
    ended = tasks.task(previews.end("dm-1"), name="ended")
    await asyncio.sleep(0)
    assert previews.has("dm-1")
    assert not ended.done()
    sent.set()
    await ended
    assert await tasks.finish(1.0)
    assert not previews.has("dm-1")
    assert [each.key.subject for each in page.lines] == ["m0"]
