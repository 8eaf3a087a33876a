import asyncio

from bot.frontend.preview import Previews, Subject
from bot.frontend.refusals import MessageGoneError
from bot.frontend.shown import Shown
from bot.frontend.tasks import Tasks

SUBJECT = Subject(session_id="dm-1", turn_id="turn-1", name="m0", reply_to="discord-5")


class Page:
    """Where a preview writes; `written` is set at each write."""

    def __init__(self, *, gone: bool = False) -> None:
        self.lines: list[Shown] = []
        self.gone = gone
        self.written = asyncio.Event()

    async def write(self, session_id: str, shown: Shown) -> None:
        self.lines.append(shown)
        self.written.set()
        if self.gone:
            raise MessageGoneError("gone")

    async def next(self) -> Shown:
        await self.written.wait()
        self.written.clear()
        return self.lines[-1]


async def at_once() -> None:
    """Nothing has to be waited for."""


async def test_the_first_text_is_written_at_once_and_the_rest_in_one_edit() -> None:
    page, tasks = Page(), Tasks()
    previews = Previews(write=page.write, interval=0.05, tasks=tasks)
    preview = await previews.of(SUBJECT, after=at_once)
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
    previews = Previews(write=page.write, interval=0.01, tasks=tasks)
    preview = await previews.of(SUBJECT, after=at_once)
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
    previews = Previews(write=page.write, interval=0.01, tasks=tasks)
    preview = await previews.of(SUBJECT, after=at_once)
    preview.note("One moment.")
    note = await page.next()
    preview.add("Hello")
    text = await page.next()
    await tasks.cancel()
    assert [note.content, text.content] == ["One moment.", "Hello …"]


async def test_nothing_is_written_once_it_is_closed() -> None:
    page, tasks = Page(), Tasks()
    previews = Previews(write=page.write, interval=0.0, tasks=tasks)
    preview = await previews.of(SUBJECT, after=at_once)
    await previews.settle("dm-1", closed={"turn-1"}, recorded=())
    preview.add("late")
    assert await tasks.finish(1.0)
    assert page.lines == []


async def test_a_preview_that_goes_on_is_left_alone() -> None:
    page, tasks = Page(), Tasks()
    previews = Previews(write=page.write, interval=0.0, tasks=tasks)
    preview = await previews.of(SUBJECT, after=at_once)
    await previews.settle("dm-1", closed={"turn-0"}, recorded={("turn-1", "m1")})
    assert await previews.of(SUBJECT, after=at_once) is preview
    preview.add("on")
    await page.next()
    await tasks.cancel()


async def test_a_deleted_preview_is_not_written_again() -> None:
    page, tasks = Page(gone=True), Tasks()
    previews = Previews(write=page.write, interval=0.0, tasks=tasks)
    preview = await previews.of(SUBJECT, after=at_once)
    preview.add("one")
    await page.next()
    preview.add("two")
    assert await tasks.finish(1.0)
    assert len(page.lines) == 1
