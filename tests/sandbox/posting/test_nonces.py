"""Nonces: what is sent twice is posted once, for a while."""

from typing import Any

import pytest

from bot.sandbox import ManualClock, Sandbox
from tests.sandbox.clients import PATIENCE, Client, Home, Http, make_home, running


@pytest.fixture(name="clock")
def _clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(name="home")
def _home(clock: ManualClock) -> Home:
    return make_home(clock=clock, nonce_window=120.0)


async def sends(home: Home, http: Http, nonce: Any = "n", **more: Any) -> tuple[int, Any]:
    body = {"content": "hi", "nonce": nonce, "enforce_nonce": True} | more
    status, answer = await http("POST", f"/channels/{home.general.id}/messages", body)
    return status, answer


async def test_the_second_gets_the_first_message(
    home: Home, http: Http, clock: ManualClock
) -> None:
    _, first = await sends(home, http, content="first")
    clock.advance(119)
    status, second = await sends(home, http, content="second")
    assert status == 200
    assert second == first
    assert second["nonce"] == "n"
    assert [each.content for each in home.general.messages] == ["first"]


async def test_after_the_window_there_are_two(home: Home, http: Http, clock: ManualClock) -> None:
    await sends(home, http)
    clock.advance(121)
    await sends(home, http)
    assert len(home.general.messages) == 2


async def test_the_window_begins_with_the_first(home: Home, http: Http, clock: ManualClock) -> None:
    for _ in range(3):
        await sends(home, http)
        clock.advance(61)
    assert len(home.general.messages) == 2


async def test_a_number_is_the_same_as_its_digits(home: Home, http: Http) -> None:
    await sends(home, http, 12)
    await sends(home, http, "12")
    assert len(home.general.messages) == 1


async def test_only_an_enforced_nonce_counts_but_any_is_remembered(home: Home, http: Http) -> None:
    await sends(home, http, enforce_nonce=False)
    await sends(home, http, enforce_nonce=False)
    assert len(home.general.messages) == 2
    await sends(home, http)
    assert len(home.general.messages) == 2


async def test_other_channels_authors_and_nonces_are_others(home: Home, http: Http) -> None:
    other = home.guild.channel("other")
    await sends(home, http)
    await sends(home, http, "m")
    await home.alice.says("hi", in_=home.general, nonce="n", enforce_nonce=True)
    body = {"content": "hi", "nonce": "n", "enforce_nonce": True}
    await http("POST", f"/channels/{other.id}/messages", body)
    assert (len(home.general.messages), len(other.messages)) == (3, 1)


async def test_a_deleted_message_is_not_posted_again(
    home: Home, http: Http, clock: ManualClock
) -> None:
    await sends(home, http)
    await home.mod.deletes(home.general.messages[0])
    status, body = await sends(home, http)
    assert (status, body["code"]) == (404, 10008)
    clock.advance(121)
    assert (await sends(home, http))[0] == 200


async def test_an_empty_nonce_is_none(home: Home, http: Http) -> None:
    await sends(home, http, "")
    await sends(home, http, "")
    assert len(home.general.messages) == 2


@pytest.mark.parametrize("nonce", ["n" * 26, 10**25, True, {}])
async def test_a_nonce_has_up_to_25_characters(home: Home, http: Http, nonce: Any) -> None:
    assert (await sends(home, http, nonce))[1]["code"] == 50035


async def test_a_nonce_cannot_be_looked_up_later(home: Home, http: Http) -> None:
    _, sent = await sends(home, http)
    _, fetched = await http("GET", f"/channels/{home.general.id}/messages/{sent['id']}")
    assert "nonce" not in fetched


async def test_discord_py_sends_twice_and_posts_once(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        heard = client.wait_for("message", timeout=PATIENCE)
        place = client.get_partial_messageable(home.general.id)
        first = await place.send("one", nonce="turn-1-part-1")
        assert (await heard).nonce == "turn-1-part-1"
        again = await place.send("one", nonce="turn-1-part-1")
    assert first.id == again.id
    assert len(home.general.messages) == 1
    assert len(client.heard) == 1
