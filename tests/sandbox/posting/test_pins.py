"""Pins: who may pin, how many, and how they are read."""

from urllib.parse import quote

import pytest

from bot.sandbox import ManualClock
from bot.sandbox.resources.messages import Kind, Message
from tests.sandbox.clients import Home, Http, make_home


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(name="home")
def _home(clock: ManualClock) -> Home:
    home = make_home(clock=clock)
    home.guild.grant(home.bot, "PIN_MESSAGES")
    return home


async def pinned(
    home: Home, http: Http, count: int, route: str = "/messages/pins"
) -> list[Message]:
    clock = home.world.clock
    assert isinstance(clock, ManualClock)
    said = []
    for number in range(count):
        clock.advance(1)
        said.append(await home.alice.says(str(number), in_=home.general))
        answer = await http("PUT", f"/channels/{home.general.id}{route}/{said[-1].id}")
        assert answer == (204, None)
    return said


@pytest.mark.parametrize("route", ["/messages/pins", "/pins"])
async def test_a_pin_is_said_once_and_can_be_taken_back(home: Home, http: Http, route: str) -> None:
    [said] = await pinned(home, http, 1, route)
    path = f"/channels/{home.general.id}{route}/{said.id}"
    assert await http("PUT", path) == (204, None)
    assert [each.kind for each in home.general.history] == [Kind.DEFAULT, Kind.PINNED]
    assert home.general.history[-1].author is home.bot
    assert await http("DELETE", path) == (204, None)
    assert home.general.pins == []


async def test_pinning_takes_its_own_permission(home: Home, http: Http) -> None:
    said = await home.alice.says("hi", in_=home.general)
    home.guild.grant(home.bot, "MANAGE_MESSAGES")
    home.world.loses_permission(home.bot, "PIN_MESSAGES", in_=home.general)
    path = f"/channels/{home.general.id}/messages/pins/{said.id}"
    assert (await http("PUT", path))[1]["code"] == 50013


async def test_what_discord_said_is_not_pinned(home: Home, http: Http) -> None:
    await pinned(home, http, 1)
    path = f"/channels/{home.general.id}/messages/pins/{home.general.history[-1].id}"
    assert (await http("PUT", path))[1]["code"] == 50021


async def test_pins_come_in_pages_of_fifty(home: Home, http: Http) -> None:
    said = await pinned(home, http, 52)
    path = f"/channels/{home.general.id}/messages/pins"
    _, first = await http("GET", path)
    assert len(first["items"]) == 50
    assert first["has_more"]
    assert first["items"][0]["message"]["id"] == str(said[-1].id)
    before = quote(first["items"][-1]["pinned_at"])
    _, rest = await http("GET", f"{path}?before={before}&limit=1")
    assert [each["message"]["id"] for each in rest["items"]] == [str(said[1].id)]
    assert rest["has_more"]
    assert (await http("GET", f"{path}?limit=51"))[1]["code"] == 50035
    _, old = await http("GET", f"/channels/{home.general.id}/pins")
    assert len(old) == 50
    home.world.loses_permission(home.bot, "READ_MESSAGE_HISTORY", in_=home.general)
    assert (await http("GET", path))[1] == {"items": [], "has_more": False}


async def test_only_two_hundred_and_fifty_messages_are_pinned(home: Home, http: Http) -> None:
    await pinned(home, http, 250)
    said = await home.alice.says("one more", in_=home.general)
    _, refused = await http("PUT", f"/channels/{home.general.id}/messages/pins/{said.id}")
    assert refused["code"] == 30003


async def test_a_time_that_is_none_is_refused(home: Home, http: Http) -> None:
    path = f"/channels/{home.general.id}/messages/pins?before=yesterday"
    assert (await http("GET", path))[1]["code"] == 50035
