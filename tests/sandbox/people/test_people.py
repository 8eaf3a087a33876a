"""What people may do, and how tests wait."""

import asyncio

import pytest

from bot.sandbox import ManualClock, Overwrite, World
from tests.sandbox.clients import Home


async def test_a_person_does_not_write_where_they_may_not(home: Home) -> None:
    stranger = home.world.person("stranger")
    with pytest.raises(PermissionError):
        await stranger.says("hello", in_=home.general)
    home.general.overwrites[home.alice] = Overwrite.of(deny={"SEND_MESSAGES"})
    with pytest.raises(PermissionError):
        await home.alice.says("hello", in_=home.general)
    with pytest.raises(PermissionError):
        await home.alice.types(in_=home.general)


async def test_a_person_sends_nothing_too_long(home: Home) -> None:
    with pytest.raises(ValueError, match="50035"):
        await home.alice.says("x" * 2001, in_=home.general)


async def test_a_person_edits_and_deletes_own_messages_only(home: Home) -> None:
    said = await home.alice.says("hello", in_=home.general)
    with pytest.raises(PermissionError):
        await home.mod.edits(said, "changed")
    other = await home.mod.says("mine", in_=home.general)
    with pytest.raises(PermissionError):
        await home.alice.deletes(other)
    await home.mod.deletes(said)
    assert home.general.messages == [other]


async def test_a_thread_is_locked_by_moderators_only(home: Home) -> None:
    thread = await home.alice.opens_thread("ideas", in_=home.general)
    with pytest.raises(PermissionError):
        await home.alice.archives(thread, lock=True)
    assert not thread.archived


async def test_each_message_is_returned_once_and_in_order(home: Home) -> None:
    first = await home.alice.says("one", in_=home.general)
    second = await home.alice.says("two", in_=home.general)
    assert await home.general.next_message_from(home.alice) is first
    assert await home.general.next_message_from(home.alice) is second
    with pytest.raises(TimeoutError, match=r"no further message from alice\n#general:\n.*'one'"):
        await home.general.next_message_from(home.alice, timeout=0.01)


async def test_an_empty_place_says_so(home: Home) -> None:
    with pytest.raises(TimeoutError, match="nothing"):
        await home.general.next_message_from(home.bot, timeout=0.01)


async def test_waiting_wakes_at_each_change(home: Home) -> None:
    said = await home.alice.says("one", in_=home.general)
    edited = asyncio.create_task(said.until(lambda message: message.content == "two"))
    filled = asyncio.create_task(home.general.until(lambda messages: len(messages) == 2))
    await asyncio.sleep(0)
    await home.alice.edits(said, "two")
    await home.mod.says("three", in_=home.general)
    assert await edited is said
    assert [each.content for each in await filled] == ["two", "three"]
    with pytest.raises(TimeoutError, match="it never held"):
        await said.until(lambda message: message.deleted, timeout=0.01)
    with pytest.raises(TimeoutError, match="it never held"):
        await home.general.until(lambda messages: not messages, timeout=0.01)


async def test_the_world_lives_by_its_clock() -> None:
    clock = ManualClock()
    world = World(clock=clock)
    lobby = world.guild("Home").channel("lobby")
    alice = world.person("alice")
    lobby.guild.join(alice)
    first = await alice.says("one", in_=lobby)
    clock.advance(60)
    second = await alice.says("two", in_=lobby)
    assert (second.created_at - first.created_at).total_seconds() == 60
    assert second.id > first.id


def test_nobody_joins_twice(home: Home) -> None:
    with pytest.raises(ValueError, match="already"):
        home.guild.join(home.alice)


async def test_names_can_be_read(home: Home) -> None:
    said = await home.alice.says("hello", in_=home.general)
    assert repr(said).endswith("alice: 'hello'>")
    shown = [repr(each) for each in (home.alice, home.bot, home.guild, home.general)]
    assert shown == ["<Person alice>", "<Bot Parley>", "<Guild Home>", "<Channel general>"]
    assert home.general.mention == f"<#{home.general.id}>"
