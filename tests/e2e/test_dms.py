"""Who writes a DM, and how few questions it takes to know whether they are in a server."""

from __future__ import annotations

import pytest

from bot.frontend import membership
from bot.frontend.hearing.inbox import STRANGER_TO_SERVERS
from bot.sandbox import Guild, Person
from tests.e2e.stage import Stage

MANY = 12


def lives_in_many(stage: Stage) -> list[Guild]:
    """Let the bot be in many more servers."""
    found = [stage.world.guild(f"Server {number}") for number in range(MANY)]
    for each in found:
        each.join(stage.bot)
    return found


def questions(stage: Stage, person: Person) -> list[int]:
    """Return the servers about which Discord was asked whether somebody is in them."""
    ours = [each.path.split("/") for each in stage.world.requests]
    return [
        int(path[path.index("guilds") + 1])
        for path in ours
        if path[-2:] == ["members", str(person.id)]
    ]


async def test_a_stranger_causes_few_questions_however_much_they_write(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "ASKED", 5)
    dave, dm = stage.world.person("dave"), stage.alice.dm(stage.bot)
    lives_in_many(stage)[-1].join(dave)
    role = stage.guild.role("may talk")
    stage.guild.members[stage.alice.id].roles.append(role)
    stage.model.says("Hello Alice.")
    async with stage.running(role_ids=frozenset({role.id})):
        for number in range(4):
            await dave.says(f"let me in {number}", in_=dave.dm(stage.bot))
        await stage.says(dave.dm(stage.bot), STRANGER_TO_SERVERS)
        await stage.alice.says("hello", in_=dm)
        await stage.says(dm, "Hello Alice.")  # in the largest server, which is asked first
        asked = questions(stage, dave)
    assert len(asked) == len(set(asked)) == 5
    assert questions(stage, stage.alice) == [stage.guild.id]


async def test_who_talked_in_a_server_is_asked_for_there_first_and_not_with_each_message(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "ASKED", 2)
    last, carol = lives_in_many(stage)[-1], stage.world.person("carol")
    last.join(carol)
    hall, dm = last.channel("hall"), carol.dm(stage.bot)
    stage.model.says("In the hall.").then("One.").then("Two.").then("Three.")
    async with stage.running():
        asking = await carol.says(f"{stage.bot.mention} hello", in_=hall)
        await stage.says(await stage.thread_on(asking), "In the hall.")
        for text in ("One.", "Two."):
            await carol.says("hello", in_=dm)
            await stage.says(dm, text)
    assert questions(stage, carol) == [last.id]
    async with stage.running():  # which is still known after a restart
        await carol.says("hello", in_=dm)
        await stage.says(dm, "Three.")
    assert questions(stage, carol) == [last.id] * 2


async def test_who_was_refused_and_then_talks_in_a_server_is_answered(stage: Stage) -> None:
    carol = stage.world.person("carol")
    dm, elsewhere = carol.dm(stage.bot), stage.world.guild("Elsewhere")
    for each in (stage.bot, carol):
        elsewhere.join(each)
    stage.model.says("At the desk.").then("In the DM.")
    async with stage.running(guild_ids=frozenset({stage.guild.id})):
        await carol.says("hello", in_=dm)
        await stage.says(dm, STRANGER_TO_SERVERS)
        stage.guild.join(carol)
        await carol.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "At the desk.")
        await carol.says("hello", in_=dm)
        await stage.says(dm, "In the DM.")
    assert questions(stage, carol) == [stage.guild.id]


async def test_who_left_is_asked_for_again_and_refused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "FRESH", 0.0)
    dm, elsewhere = stage.alice.dm(stage.bot), stage.world.guild("Elsewhere")
    for each in (stage.bot, stage.alice):
        elsewhere.join(each)
    stage.model.says("Hello.")
    async with stage.running(guild_ids=frozenset({stage.guild.id})):
        await stage.alice.says("hello", in_=dm)
        await stage.says(dm, "Hello.")
        stage.guild.leave(stage.alice)
        await stage.alice.says("hello?", in_=dm)
        await stage.says(dm, STRANGER_TO_SERVERS)


async def test_what_was_found_out_of_people_does_not_pile_up(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "PEOPLE", 1)
    stage.model.says("Hello.").then("Hello.").then("Again.")
    async with stage.running():
        for who in (stage.alice, stage.bob):
            await who.says("hello", in_=who.dm(stage.bot))
            await stage.says(who.dm(stage.bot), "Hello.")
        await stage.alice.says("hello", in_=stage.alice.dm(stage.bot))
        await stage.says(stage.alice.dm(stage.bot), "Again.")
    assert len(questions(stage, stage.alice)) == 2
