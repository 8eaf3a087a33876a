"""Rate limits, as Discord's headers tell of them and as discord.py keeps them."""

import asyncio
from collections.abc import AsyncIterator

import discord
import pytest

from bot.sandbox import (
    NO_LIMITS,
    REAL_LIMITS,
    Channel,
    Limits,
    ManualClock,
    Rate,
    Refusal,
    Sandbox,
    Scope,
)
from tests.sandbox.clients import PATIENCE, Client, Home, Http, Whole, make_home, running


@pytest.fixture(name="clock")
def _clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(name="home")
def _home(clock: ManualClock) -> Home:
    return make_home(clock=clock, limits=REAL_LIMITS)


async def sends(http: Http, channel: Channel, content: str = "hi") -> Whole:
    return await http.whole("POST", f"/channels/{channel.id}/messages", {"content": content})


async def test_a_channel_takes_five_messages_in_five_seconds(
    home: Home, http: Http, clock: ManualClock
) -> None:
    first = await sends(http, home.general)
    assert first.status == 200
    assert first.headers["X-RateLimit-Limit"] == "5"
    assert first.headers["X-RateLimit-Remaining"] == "4"
    assert first.headers["X-RateLimit-Reset-After"] == "5.000"
    assert float(first.headers["X-RateLimit-Reset"]) == pytest.approx(
        clock.now().timestamp() + 5, abs=0.001
    )
    assert len(first.headers["X-RateLimit-Bucket"]) == 32
    assert "X-RateLimit-Scope" not in first.headers
    clock.advance(2)
    for left in (3, 2, 1, 0):
        answer = await sends(http, home.general)
        assert answer.headers["X-RateLimit-Remaining"] == str(left)
    assert len(home.general.messages) == 5


async def test_the_sixth_is_answered_429_until_the_window_ends(
    home: Home, http: Http, clock: ManualClock
) -> None:
    for _ in range(5):
        assert (await sends(http, home.general)).status == 200
    clock.advance(3.5)
    refused = await sends(http, home.general)
    assert refused.status == 429
    text = "You are being rate limited."
    assert refused.json == {"message": text, "retry_after": 1.5, "global": False}
    assert refused.headers["Retry-After"] == "2"
    assert refused.headers["X-RateLimit-Scope"] == "user"
    assert refused.headers["X-RateLimit-Remaining"] == "0"
    assert refused.headers["Via"]
    assert "X-RateLimit-Global" not in refused.headers
    assert len(home.general.messages) == 5
    clock.advance(1.5)
    assert (await sends(http, home.general)).headers["X-RateLimit-Remaining"] == "4"


async def test_each_channel_and_route_has_its_own(home: Home, http: Http) -> None:
    other = home.guild.channel("other")
    sent = [await sends(http, home.general) for _ in range(5)][-1]
    assert (await sends(http, other)).headers["X-RateLimit-Remaining"] == "4"
    path = f"/channels/{home.general.id}/messages/{sent.json['id']}"
    edited = await http.whole("PATCH", path, {"content": "ho"})
    assert edited.headers["X-RateLimit-Remaining"] == "4"
    assert edited.headers["X-RateLimit-Bucket"] != sent.headers["X-RateLimit-Bucket"]
    fetched = await http.whole("GET", path)
    assert fetched.headers["X-RateLimit-Limit"] == "50"


async def test_edits_of_a_channels_messages_share_one(home: Home, http: Http) -> None:
    ids = [(await sends(http, home.general)).json["id"] for _ in range(5)]
    statuses = [
        (await http.whole("PATCH", f"/channels/{home.general.id}/messages/{each}", body)).status
        for each in [*ids, ids[0]]
        for body in [{"content": "ho"}]
    ]
    assert statuses == [200] * 5 + [429]


async def test_a_bot_sends_fifty_requests_a_second_in_all(
    home: Home, http: Http, clock: ManualClock
) -> None:
    channels = [home.guild.channel(f"c{number}") for number in range(11)]
    answers = [await sends(http, each) for each in channels for _ in range(5)]
    assert [each.status for each in answers] == [200] * 50 + [429] * 5
    refused = answers[-1]
    assert refused.json["global"] is True
    assert refused.json["retry_after"] == 1.0
    assert refused.headers["X-RateLimit-Global"] == "true"
    assert refused.headers["X-RateLimit-Scope"] == "global"
    assert "X-RateLimit-Bucket" not in refused.headers
    clock.advance(1)
    assert (await sends(http, channels[-1])).status == 200


async def test_invalid_requests_block_the_address(
    home: Home, http: Http, clock: ManualClock
) -> None:
    home.world.limits = Limits(invalid=Rate(3, 600.0))
    hidden = home.guild.channel("hidden")
    home.world.loses_permission(home.bot, "VIEW_CHANNEL", in_=hidden)
    clock.advance(1)
    for count in (1, 2, 3):
        assert (await sends(http, hidden)).status == 403
        assert home.world.traffic.invalid_requests == count
    blocked = await sends(http, home.general)
    assert (blocked.status, blocked.headers["Content-Type"]) == (429, "text/html; charset=utf-8")
    assert blocked.headers["Retry-After"] == "600"
    assert "Via" not in blocked.headers
    clock.advance(600)
    assert (await sends(http, home.general)).status == 200
    assert home.world.traffic.invalid_requests == 0


async def test_shared_limits_are_not_held_against_the_address(home: Home, http: Http) -> None:
    home.world.faults.next_send(fails=429, scope=Scope.SHARED)
    assert (await sends(http, home.general)).headers["X-RateLimit-Scope"] == "shared"
    assert home.world.traffic.invalid_requests == 0
    home.world.faults.next_send(fails=429)
    assert (await sends(http, home.general)).status == 429
    assert home.world.traffic.invalid_requests == 1


async def test_cloudflare_answers_without_json_on_demand(
    home: Home, http: Http, clock: ManualClock
) -> None:
    home.world.faults.blocks_everyone(30)
    answer = await http.whole("GET", "/users/@me")
    assert (answer.status, answer.headers["Retry-After"]) == (429, "30")
    assert answer.text.startswith("<!DOCTYPE html>")
    clock.advance(30)
    assert (await http.whole("GET", "/users/@me")).status == 200


async def test_first_responses_are_not_limited(home: Home, http: Http) -> None:
    home.world.limits = Limits(overall=Rate(1, 60.0))
    assert (await http.whole("GET", "/users/@me")).status == 200
    answers = [await http.whole("POST", "/interactions/1/t/callback", {}) for _ in range(3)]
    assert [each.json["code"] for each in answers] == [Refusal.UNKNOWN_INTERACTION.value[1]] * 3


async def test_without_limits_no_header_tells_of_any(home: Home, http: Http) -> None:
    home.world.limits = NO_LIMITS
    answers = [await sends(http, home.general) for _ in range(60)]
    assert {each.status for each in answers} == {200}
    assert not [name for name in answers[0].headers if name.startswith("X-RateLimit")]


class TestARealClient:
    """discord.py, in windows a fifth as long."""

    @pytest.fixture(name="home")
    def _home(self) -> Home:
        return make_home(limits=REAL_LIMITS.scaled(0.2))

    @pytest.fixture
    async def client(self, home: Home, sandbox: Sandbox) -> AsyncIterator[Client]:
        client = Client()
        async with running(client, home.bot):
            yield client

    @pytest.fixture
    def channel(self, home: Home, client: Client) -> discord.PartialMessageable:
        return client.get_partial_messageable(home.general.id)

    async def test_it_keeps_the_limit_that_the_headers_tell(
        self, home: Home, channel: discord.PartialMessageable
    ) -> None:
        await asyncio.gather(*(channel.send(str(number)) for number in range(12)))
        assert len(home.general.messages) == 12
        assert {each.status for each in home.world.requests} == {200}

    async def test_a_429_without_json_is_an_error_at_once(
        self, home: Home, channel: discord.PartialMessageable
    ) -> None:
        home.world.faults.next_send(fails=429, html=True, retry_after=60)
        with pytest.raises(discord.HTTPException) as caught:
            await channel.send("hi")
        assert (caught.value.status, caught.value.code) == (429, 0)
        await channel.send("still here")
        assert [each.content for each in home.general.messages] == ["still here"]


class TestAClientThatIsTooFast:
    """discord.py, whose waiting ends for the sandbox only when the test says so."""

    @pytest.fixture(name="home")
    def _home(self, clock: ManualClock) -> Home:
        return make_home(clock=clock, limits=Limits(sends=Rate(5, 0.05), overall=Rate(50, 0.05)))

    async def moved_on(self, home: Home, clock: ManualClock) -> None:
        """Move the clock to the next window once a request was too many."""
        await home.world.pulse.until(
            lambda: next((each for each in home.world.requests if each.status == 429), None),
            PATIENCE,
            lambda: "nothing was too much",
        )
        clock.advance(0.05)

    async def test_it_waits_for_what_somebody_else_has_used_up(
        self, home: Home, http: Http, clock: ManualClock
    ) -> None:
        client = Client()
        async with running(client, home.bot):
            for _ in range(5):
                await sends(http, home.general)
            place = client.get_partial_messageable(home.general.id)
            sending = asyncio.create_task(place.send("after all"))
            await self.moved_on(home, clock)
            await sending
        assert home.general.messages[-1].content == "after all"

    async def test_it_waits_when_it_asks_too_much_in_all(
        self, home: Home, http: Http, clock: ManualClock
    ) -> None:
        client = Client()
        async with running(client, home.bot):
            clock.advance(1)
            for _ in range(50):
                assert (await http.whole("GET", "/users/@me")).status == 200
            others = [home.guild.channel(f"c{number}") for number in range(4)]
            places = [client.get_partial_messageable(each.id) for each in others]
            sending = asyncio.gather(*(each.send("hi") for each in places))
            await self.moved_on(home, clock)
            await sending
        assert [len(each.messages) for each in others] == [1] * 4


async def test_sends_and_edits_may_share_a_bucket(home: Home, http: Http) -> None:
    home.world.limits = Limits(writes=Rate(2, 5.0))
    sent = await sends(http, home.general)
    path = f"/channels/{home.general.id}/messages/{home.general.messages[-1].id}"
    edited = await http.whole("PATCH", path, {"content": "hello"})
    assert sent.headers["X-RateLimit-Bucket"] == edited.headers["X-RateLimit-Bucket"]
    assert edited.headers["X-RateLimit-Remaining"] == "0"
    assert (await sends(http, home.general)).status == 429
