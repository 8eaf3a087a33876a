"""Sessions that outlive their connections, spoken to directly."""

from typing import Any

import pytest

from bot.sandbox import Limits, ManualClock, Rate, Sandbox
from bot.sandbox.resources import sessions
from tests.sandbox.clients import Home, Http, Line, connected, make_home

INVALID = {"op": 9, "d": False, "s": None, "t": None}


@pytest.fixture(name="clock")
def _clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(name="home")
def _home(clock: ManualClock) -> Home:
    return make_home(clock=clock, heartbeat_interval=12.5)


async def left(home: Home, sandbox: Sandbox, code: int = 4000) -> str:
    """Begin a session, close the connection with a code, and return the session's id."""
    async with connected(sandbox) as line:
        session_id = await line.begins(home)
        await line.socket.close(code=code)
        await sandbox.disconnected(home.bot)
    return session_id


async def test_what_was_missed_is_said_again(home: Home, sandbox: Sandbox, line: Line) -> None:
    session_id = await left(home, sandbox)
    said = await home.alice.says("missed", in_=home.general)
    await home.alice.says("by the way", in_=home.alice.dm(home.bot))
    await line.resumes(home, session_id, 2)
    first, second, resumed = [await line.hears() for _ in range(3)]
    assert (first["t"], first["s"], first["d"]["id"]) == ("MESSAGE_CREATE", 3, str(said.id))
    assert (second["t"], second["s"]) == ("MESSAGE_CREATE", 4)
    assert (resumed["op"], resumed["t"], resumed["s"]) == (0, "RESUMED", 5)
    await home.alice.says("live", in_=home.general)
    assert (await line.hears())["s"] == 6


async def test_a_second_resume_says_again_what_the_first_did(
    home: Home, sandbox: Sandbox, line: Line
) -> None:
    session_id = await left(home, sandbox)
    await home.alice.says("missed", in_=home.general)
    async with connected(sandbox) as other:
        await other.resumes(home, session_id, 2)
        await other.hears("RESUMED")
        # The old connection is cut when the session is resumed over another.
        await line.resumes(home, session_id, 2)
        assert [(await line.hears())["s"] for _ in range(2)] == [3, 5]
        assert await other.closes() == 1006


@pytest.mark.parametrize("code", [1000, 1001])
async def test_a_client_that_says_goodbye_ends_its_session(
    home: Home, sandbox: Sandbox, line: Line, code: int
) -> None:
    session_id = await left(home, sandbox, code)
    await line.resumes(home, session_id, 2)
    assert await line.hears() == INVALID


@pytest.mark.parametrize("code", [1000, 1001, 4004, 4009, 4013, 4014])
async def test_codes_that_end_the_session(
    home: Home, sandbox: Sandbox, line: Line, code: int
) -> None:
    async with connected(sandbox) as other:
        session_id = await other.begins(home)
        await sandbox.disconnect(home.bot, code)
        assert await other.closes() == code
    await line.resumes(home, session_id, 2)
    assert await line.hears() == INVALID


@pytest.mark.parametrize("code", [4000, 4008, 4900])
async def test_codes_that_leave_it_resumable(
    home: Home, sandbox: Sandbox, line: Line, code: int
) -> None:
    async with connected(sandbox) as other:
        session_id = await other.begins(home)
        await sandbox.disconnect(home.bot, code)
        assert await other.closes() == code
    await line.resumes(home, session_id, 2)
    assert await line.hears("RESUMED") == {}


async def test_a_dropped_socket_leaves_it_resumable(
    home: Home, sandbox: Sandbox, line: Line
) -> None:
    async with connected(sandbox) as other:
        session_id = await other.begins(home)
        sandbox.faults.drops(home.bot)
        assert sandbox.connections == []
        assert await other.closes() == 1006
    await line.resumes(home, session_id, 2)
    assert await line.hears("RESUMED") == {}


async def test_an_absent_bot_is_waited_for_only_so_long(
    home: Home, sandbox: Sandbox, line: Line, clock: ManualClock
) -> None:
    session_id = await left(home, sandbox)
    clock.advance(home.world.resume_window + 1)
    await line.resumes(home, session_id, 2)
    assert await line.hears() == INVALID
    await line.begins(home)  # over the same connection


async def test_a_connected_bot_is_not_given_up(
    home: Home, sandbox: Sandbox, line: Line, clock: ManualClock
) -> None:
    await line.begins(home)
    clock.advance(24 * 3600)
    await home.alice.says("still there?", in_=home.general)
    assert (await line.hears())["t"] == "MESSAGE_CREATE"


async def test_what_is_kept_no_longer_cannot_be_said_again(
    home: Home, sandbox: Sandbox, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MOST_KEPT", 3)
    session_id = await left(home, sandbox)
    for number in range(4):
        await home.alice.says(str(number), in_=home.general)
    await line.resumes(home, session_id, 2)
    assert await line.hears() == INVALID


@pytest.mark.parametrize("sequence", [99, -1, None, "2"])
async def test_a_number_that_was_never_sent_is_4007(
    home: Home, sandbox: Sandbox, line: Line, sequence: Any
) -> None:
    session_id = await left(home, sandbox)
    await line.resumes(home, session_id, sequence)
    assert await line.closes() == 4007


async def test_a_resume_is_checked(home: Home, line: Line) -> None:
    await line.resumes(home, "invented", 3)
    assert await line.hears() == INVALID
    home.bot.token = "changed"
    await line.says(6, {"token": "wrong", "session_id": "invented", "seq": 3})
    assert await line.closes() == 4004


async def test_nothing_is_resumed_over_a_session(home: Home, line: Line) -> None:
    session_id = await line.begins(home)
    await line.resumes(home, session_id, 1)
    assert await line.closes() == 4005


async def test_a_resume_can_be_refused_on_demand(home: Home, sandbox: Sandbox, line: Line) -> None:
    session_id = await left(home, sandbox)
    sandbox.faults.refuses_resume(home.bot, resumable=True)
    await line.resumes(home, session_id, 2)
    assert await line.hears() == INVALID | {"d": True}
    await line.resumes(home, session_id, 2)
    assert await line.hears("RESUMED") == {}


async def test_another_bots_session_is_not_resumed(
    home: Home, sandbox: Sandbox, line: Line
) -> None:
    session_id = await left(home, sandbox)
    other = home.world.bot("Other")
    sandbox.faults.refuses_resume(home.bot)
    await line.says(6, {"token": other.token, "session_id": session_id, "seq": 2})
    assert await line.hears() == INVALID


def test_hello_tells_the_heartbeat_interval(line: Line) -> None:
    assert line.hello["d"] == {"heartbeat_interval": 12_500}


async def test_a_silent_connection_acknowledges_nothing(
    home: Home, sandbox: Sandbox, line: Line
) -> None:
    await line.begins(home)
    sandbox.faults.silences(home.bot, events_too=False)
    await line.says(1, None)
    await home.alice.says("events still come", in_=home.general)
    assert (await line.hears())["t"] == "MESSAGE_CREATE"


async def test_what_a_zombie_swallows_waits_for_a_resume(
    home: Home, sandbox: Sandbox, line: Line
) -> None:
    async with connected(sandbox) as zombie:
        session_id = await zombie.begins(home)
        sandbox.faults.silences(home.bot)
        await zombie.says(1, None)
        await home.alice.says("unheard", in_=home.general)
        await zombie.socket.close(code=4000)
        await sandbox.disconnected(home.bot)
        assert await zombie.closes() is not None
    await line.resumes(home, session_id, 2)
    assert (await line.hears("MESSAGE_CREATE"))["content"] == "unheard"


class TestLimits:
    """How often a bot may identify and speak."""

    async def test_the_starts_of_a_day_are_told_and_kept(
        self, home: Home, sandbox: Sandbox, http: Http, clock: ManualClock
    ) -> None:
        home.world.limits = Limits(identifies=None, starts=Rate(2, 86_400))
        await left(home, sandbox)
        clock.advance(60)
        _, body = await http("GET", "/gateway/bot")
        assert body["session_start_limit"] == {
            "total": 2,
            "remaining": 1,
            "reset_after": 86_340_000,
            "max_concurrency": 1,
        }
        await left(home, sandbox)
        async with connected(sandbox) as line:
            await line.identifies(home, 0)
            assert await line.closes() == 4004

    async def test_they_are_counted_without_limits(
        self, home: Home, sandbox: Sandbox, http: Http
    ) -> None:
        await left(home, sandbox)
        _, body = await http("GET", "/gateway/bot")
        assert body["session_start_limit"]["remaining"] == 999

    async def test_too_many_at_once_are_invalid(
        self, home: Home, sandbox: Sandbox, line: Line, clock: ManualClock
    ) -> None:
        home.world.limits = Limits()
        await left(home, sandbox)
        await line.identifies(home, 0)
        assert await line.hears() == INVALID
        clock.advance(5)
        await line.begins(home)

    async def test_shards_of_different_buckets_begin_at_once(
        self, home: Home, sandbox: Sandbox
    ) -> None:
        home.world.limits = Limits(identifies=Rate(2, 5))
        for shard, frame in ((0, "READY"), (1, "READY"), (2, None), (3, None)):
            async with connected(sandbox) as line:
                await line.identifies(home, 0, shard=[shard, 4])
                heard = await line.hears(frame)
                assert frame is not None or heard == INVALID

    async def test_too_many_frames_are_4008(self, home: Home, sandbox: Sandbox) -> None:
        home.world.limits = Limits(frames=Rate(3, 60))
        async with connected(sandbox) as line:
            for _ in range(3):
                await line.says(1, None)
                assert (await line.hears())["op"] == 11
            await line.says(1, None)
            assert await line.closes() == 4008
