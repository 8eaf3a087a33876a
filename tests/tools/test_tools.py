"""The tools that come with it, as the agent uses them."""

from datetime import UTC, datetime

import pytest

from bot import ExecutionContext, InMemorySessionManager, Session, Tool, ToolError
from bot.tools import current_time, roll_dice


async def used(tool: Tool, **arguments: str) -> str:
    context = ExecutionContext(session=Session("s"), session_manager=InMemorySessionManager())
    return (await tool.invoke(tool.parameters.effective(arguments), context)).text


@pytest.mark.parametrize(
    ("dice", "count", "sides"), [("2d6", 2, 6), ("d20", 1, 20), (" 100 D 1000", 100, 1000)]
)
async def test_dice_show_each_roll_within_their_sides(dice: str, count: int, sides: int) -> None:
    told = await used(roll_dice, dice=dice)
    name, rolls = told.split(", together")[0].split(": ")
    numbers = [int(each) for each in rolls.split(", ")]
    assert name == f"{count}d{sides}"
    assert len(numbers) == count
    assert all(1 <= number <= sides for number in numbers)
    if count > 1:
        assert told.endswith(f", together {sum(numbers)}")


async def test_without_a_word_it_is_one_die() -> None:
    assert (await used(roll_dice)).startswith("1d6: ")


@pytest.mark.parametrize("dice", ["", "six", "0d6", "2d1", "101d6", "1d1001", "-1d6"])
async def test_dice_that_are_none_are_refused(dice: str) -> None:
    with pytest.raises(ToolError, match="cannot be rolled; 2d6 can"):
        await used(roll_dice, dice=dice)


async def test_the_time_is_told_for_a_time_zone() -> None:
    before = datetime.now(UTC)
    told = await used(current_time)
    after = datetime.now(UTC)
    assert told in {f"{each:%A, %d %B %Y, %H:%M} UTC" for each in (before, after)}


@pytest.mark.parametrize("zone", ["Nowhere/Town", "../etc/passwd", "\0", ""])
async def test_a_time_zone_that_is_none_is_refused(zone: str) -> None:
    with pytest.raises(ToolError, match="There is no time zone"):
        await used(current_time, timezone=zone)


def test_both_may_run_unasked() -> None:
    assert not current_time.is_gated({}, Session("s"))
    assert not roll_dice.is_gated({}, Session("s"))
