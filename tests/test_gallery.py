"""The gallery, as people see it: a process that shows every answer, and ends."""

from pathlib import Path

from bot.frontend.rendering.markdown import LIMIT
from bot.playground.exhibits import exhibits
from bot.playground.gallery import gallery
from bot.sandbox import Message
from tests.commands import ROOT, printed, run, running, stopped


async def test_every_answer_is_shown_and_told(tmp_path: Path) -> None:
    ended = await run("gallery", "--once", "--port", "0", in_=tmp_path)
    assert (ended.status, ended.err) == (0, "")
    shown = [line.split(":")[0] for line in ended.out.splitlines() if line.startswith("#")]
    assert shown == [f"#{each.name}" for each in exhibits()]


async def test_the_page_stays_open_until_it_is_stopped(tmp_path: Path) -> None:
    async with running("gallery", "--port", "0", in_=tmp_path) as process:
        assert "http://127.0.0.1:" in await printed(process, "Ctrl-C ends it.")
        assert (await stopped(process)).status == 0


async def test_what_people_see_is_what_discord_takes() -> None:
    async with gallery() as hung:
        for exhibit, room in hung.rooms:
            answers: list[Message] = hung.answers(room)
            assert 1 <= len(answers) <= 5
            assert all(0 < len(each.content) <= LIMIT for each in answers)
            assert all(each.content == each.content.strip() for each in answers)
            assert len(answers) == sum(each.author.is_bot for each in room.messages)
            assert not any(each.mention_everyone for each in answers), exhibit.name


def test_it_has_the_kinds_that_others_were_seen_to_break() -> None:
    names = " ".join(each.name for each in exhibits())
    for kind in ("300-lines", "5000", "nested", "tilde", "table", "60000", "blank", "everyone"):
        assert kind in names
    assert len(exhibits()) >= 30
    assert len({each.question for each in exhibits()}) == len(exhibits())
    assert len(next(each.text for each in exhibits() if "60000" in each.name)) == 60_000


def test_the_package_has_the_texts() -> None:
    assert "playground/answers/*.md" in (ROOT / "pyproject.toml").read_text()
