"""When the next edit of a preview may go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.frontend.showing.pacing import MARGIN, PREVIEWS_A_SECOND, Budget, Kind, Pacing

SEND, EDIT = "/api/v10/channels/7/messages", "/api/v10/channels/7/messages/8"


class Time:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def told(remaining: int, reset: float, *, bucket: str = "b", limit: int = 5) -> dict[str, str]:
    values = {"Limit": limit, "Remaining": remaining, "Reset-After": reset, "Bucket": bucket}
    return {f"X-RateLimit-{name}": str(value) for name, value in values.items()}


def paced() -> tuple[Pacing, Time]:
    time = Time()
    return Pacing(time), time


async def takes(pacing: Pacing, kind: Kind = Kind.EDIT, channel: int = 7) -> None:
    async with pacing.turn(channel, kind):
        """Something is written."""


def test_what_is_left_is_spread_over_the_rest_of_the_window() -> None:
    assert Budget(limit=5, remaining=4, resets_at=5.0).next_at(0.0) == 1.25
    assert Budget(limit=5, remaining=2, resets_at=5.0).next_at(2.5) == 3.75


def test_the_last_of_a_window_is_left_to_what_must_go_out() -> None:
    assert Budget(limit=5, remaining=1, resets_at=5.0).next_at(3.75) == 5.0 + MARGIN
    assert Budget(limit=1, remaining=1, resets_at=5.0).next_at(None) is None


@given(
    limit=st.integers(1, 50),
    spent=st.lists(st.booleans(), max_size=60),
)
def test_previews_never_take_what_is_kept(limit: int, spent: list[bool]) -> None:
    left, now, previews = limit, 0.0, 0
    for is_preview in spent:
        budget = Budget(limit=limit, remaining=left, resets_at=5.0)
        when = budget.next_at(now)
        if is_preview and when is not None and when < 5.0:
            now, previews = when, previews + 1
            left -= 1
            assert left >= limit // 5
        elif not is_preview and left:
            left -= 1
    assert previews <= limit - limit // 5


async def test_before_anything_is_told_a_channel_has_five_in_five_seconds() -> None:
    pacing, time = paced()
    assert pacing.wait(7, Kind.EDIT) == 0
    await takes(pacing)
    assert pacing.wait(7, Kind.EDIT) == 1.25
    assert pacing.wait(8, Kind.EDIT) == 0
    time.now += 5.1
    assert pacing.wait(7, Kind.EDIT) == 0


async def test_the_headers_count_whoever_wrote() -> None:
    pacing, time = paced()
    await takes(pacing)
    pacing.learn("PATCH", EDIT, 200, told(4, 5))
    time.now += 1
    pacing.learn("PATCH", EDIT, 200, told(3, 4))
    pacing.learn("PATCH", EDIT, 200, told(2, 4))
    assert pacing.wait(7, Kind.EDIT) == 1.5
    pacing.learn("PATCH", EDIT, 200, told(1, 4))
    assert pacing.wait(7, Kind.EDIT) == 4 + MARGIN


async def test_sending_and_editing_share_a_bucket_until_the_headers_say_otherwise() -> None:
    pacing, _ = paced()
    pacing.learn("POST", SEND, 200, told(0, 3, bucket="a"))
    assert pacing.wait(7, Kind.EDIT) == 3 + MARGIN
    pacing.learn("PATCH", EDIT, 200, told(4, 5, bucket="b"))
    assert pacing.wait(7, Kind.EDIT) == 0
    assert pacing.wait(7, Kind.SEND) == 3 + MARGIN


async def test_a_refusal_holds_the_previews_of_a_channel_back() -> None:
    pacing, time = paced()
    pacing.learn("POST", SEND, 429, {"Retry-After": "3"})
    assert pacing.wait(7, Kind.EDIT) == 3
    assert pacing.wait(8, Kind.EDIT) == 0
    time.now += 3.1
    assert pacing.wait(7, Kind.EDIT) == 0


async def test_a_global_refusal_holds_all_previews_back() -> None:
    pacing, _ = paced()
    pacing.learn("GET", "/api/v10/gateway", 429, {"Retry-After": "2", "X-RateLimit-Global": "true"})
    assert pacing.wait(8, Kind.EDIT) == 2


async def test_other_routes_hold_nothing_back() -> None:
    pacing, _ = paced()
    pacing.learn("POST", "/api/v10/channels/7/typing", 429, {"Retry-After": "2"})
    pacing.learn("GET", SEND, 200, told(0, 5))
    assert pacing.wait(7, Kind.EDIT) == 0


async def test_windows_that_have_ended_are_forgotten() -> None:
    pacing, time = paced()
    for channel in range(1000):
        await takes(pacing, channel=channel)
        time.now += 1 / PREVIEWS_A_SECOND
    time.now += 100
    pacing.learn("PATCH", EDIT, 200, told(4, 5))
    assert (len(pacing._budgets), len(pacing._last)) == (1, 0)


async def test_previews_of_all_channels_keep_below_what_a_bot_may_make_in_all() -> None:
    pacing, time = paced()
    for channel in range(3):
        await takes(pacing, channel=channel)
    assert pacing.line == pytest.approx(3 / PREVIEWS_A_SECOND)
    await pacing.jump_the_line()  # the first text of an answer does
    assert pacing.line == pytest.approx(4 / PREVIEWS_A_SECOND)
    time.now += 1.0
    assert pacing.line < 0
