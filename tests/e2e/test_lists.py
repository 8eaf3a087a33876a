"""What waits, and what was done: /approvals and /audit, privately, for those who may see it."""

import json

import pytest

from bot.sandbox import Answer
from tests.e2e.stage import Stage

DELETE = ("delete_file", {"path": "old.txt"})


def audited(answer: Answer) -> list[dict[str, str]]:
    assert answer.message is not None
    lines = answer.message.attachments[0].data.decode().splitlines()
    return [json.loads(line) for line in lines]


async def test_what_waits_here_is_listed_with_a_link_also_after_a_restart(stage: Stage) -> None:
    stage.model.says(calls=[DELETE])
    async with stage.running():
        assert (await stage.bob.runs("/approvals", in_=stage.desk)).text == (
            "Nothing waits for a decision."
        )
        await stage.alice.says("delete it", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
    async with stage.running():
        answer = await stage.bob.runs("/approvals", in_=stage.desk)
        link = f"https://discord.com/channels/{stage.guild.id}/{stage.desk.id}/{card.id}"
        assert answer.text.startswith(f"- `delete_file` in {stage.desk.mention}, asked for by")
        assert answer.text.endswith(link)
        assert answer.ephemeral
        assert (await stage.bob.runs("/approvals", in_=stage.general)).text.startswith("Nothing")


async def test_moderators_see_what_waits_in_the_whole_server(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).says(calls=[DELETE])
    async with stage.running():
        await stage.alice.says("delete it", in_=stage.desk)
        await stage.says(stage.desk, "May I run")
        opening = await stage.alice.says(f"{stage.bot.mention} delete it", in_=stage.general)
        thread = await stage.thread_on(opening)
        await stage.says(thread, "May I run")
        answer = await stage.mod.runs("/approvals", in_=stage.general)
    assert len(answer.text.splitlines()) == 2
    assert thread.mention in answer.text


async def test_a_list_of_more_than_fits_comes_in_pages_whose_links_can_be_clicked(
    stage: Stage,
) -> None:
    calls = [("delete_file", {"path": f"{number}.txt"}) for number in range(9)]
    stage.model.says(calls=calls)
    async with stage.running() as client:
        await stage.alice.says("delete them", in_=stage.desk)
        await stage.says(stage.desk, "8.txt")
        await client._parts.reconciler.caught_up(f"channel-{stage.desk.id}")
        first = await stage.alice.runs("/approvals", in_=stage.desk)
        second = await stage.alice.runs("/approvals", in_=stage.desk, page=2)
        beyond = await stage.alice.runs("/approvals", in_=stage.desk, page=9)
    assert first.message is not None
    assert not first.message.attachments
    for answer, count, page in ((first, 7, 1), (second, 2, 2), (beyond, 2, 2)):
        *listed, tail = answer.text.splitlines()
        assert len(listed) == count
        assert all("https://discord.com/channels/" in line for line in listed)
        assert tail == f"-# Page {page} of 2, 9 requests in all."


async def test_the_audit_tells_who_asked_decided_and_what_ran(stage: Stage) -> None:
    stage.model.says(calls=[("read_clock", {}), DELETE]).then("Gone.")
    async with stage.running():
        await stage.alice.says("delete it", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "Gone.")
        await stage.mod.runs("/policy set", in_=stage.desk, tool="delete_file", mode="never")
    async with stage.running():
        here = await stage.mod.runs("/audit", in_=stage.desk)
        server = await stage.mod.runs("/audit", in_=stage.general, server=True, days=1.0)
        nothing = await stage.mod.runs("/audit", in_=stage.general)
        with pytest.raises(PermissionError):
            await stage.bob.runs("/audit", in_=stage.desk)
    assert nothing.text == "No tool was asked for, decided or run."
    about = [each for each in audited(here) if each["tool"] == "delete_file"]
    assert [(each["what"], each["outcome"]) for each in about] == [
        ("requested", ""),
        ("decided", "approved"),
        ("started", ""),
        ("ended", "ok"),
    ]
    assert len({each["arguments_sha256"] for each in about}) == 1
    assert about[1]["who"] == f"user-{stage.mod.id}"
    assert about[3]["who"] == f"user-{stage.alice.id}"
    assert len(audited(here)) == 6
    assert len(audited(server)) == 7
    assert audited(server)[-1]["what"] == "policy"
    assert f"decided `delete_file` approved by {stage.mod.mention}" in here.text


async def test_the_audit_names_the_standing_yes_by_which_a_call_ran(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("One.").says(calls=[DELETE]).then("Two.")
    async with stage.running():
        await stage.alice.says("delete it", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        more = await stage.mod.clicks(card, "More…")
        assert more.message is not None
        await stage.mod.clicks(more.message, "Always in this server with exactly these arguments")
        await stage.says(stage.desk, "One.")
        await stage.alice.says("again", in_=stage.desk)
        await stage.says(stage.desk, "Two.")
        found = audited(await stage.mod.runs("/audit", in_=stage.desk, server=True))
    [grant] = [each for each in found if each["what"] == "policy"]
    assert (grant["outcome"], grant["who"]) == ("grant", f"user-{stage.mod.id}")
    unasked = [each for each in found if each["what"] == "started" and each["note"]]
    assert len(unasked) == 1
    assert unasked[0]["note"].startswith("grant-")
