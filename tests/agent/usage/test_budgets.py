from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import Actor, BudgetUsedUpError, Usage
from bot.agent.usage.budgets import Budgets, Ledger, Limits
from bot.agent.usage.meter import Call, FreeMeter
from bot.agent.usage.metering import StoredMeter
from bot.sessions.stores.homes import Home, HomeStore
from bot.sessions.stores.periods import Span
from bot.sessions.stores.usage import UsageStore
from bot.storage import SQLiteDatabase

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ROLES = st.dictionaries(st.sampled_from("abc"), st.integers(0, 9))


class Town:
    """Two people in a server, a store, and a clock that is moved by hand."""

    def __init__(self, database: SQLiteDatabase) -> None:
        self.now = NOON
        self.usage, self.homes = UsageStore(database), HomeStore(database)
        self.asked_in: list[int | None] = []
        self._calls = 0

    async def actor_of(self, user_id: str, server_id: int | None) -> Actor:
        self.asked_in.append(server_id)
        roles = {"rich"} if (user_id, server_id) == ("bob", 1) else set[str]()
        return Actor(user_id=user_id, roles=frozenset(roles), owner=user_id == "owner")

    def meter(self, budgets: Budgets | None = None) -> StoredMeter:
        return StoredMeter(
            usage=self.usage,
            homes=self.homes,
            budgets=budgets,
            actor_of=self.actor_of,
            clock=lambda: self.now,
        )

    async def use(self, meter: StoredMeter, user_id: str, tokens: int, session: str = "s") -> None:
        self._calls += 1
        call = Call(session_id=session, turn_id="t", number=self._calls, user_id=user_id, model="m")
        await meter.note(call, Usage(input_tokens=tokens))


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    database = SQLiteDatabase(tmp_path / "town.db")
    town = Town(database)
    await town.homes.put("s", Home(1, 2))
    await town.homes.put("elsewhere", Home(5, 6))
    yield town
    await database.close()


async def refusal(meter: StoredMeter, user_id: str, session: str = "s") -> str:
    """Return what somebody is told who asks now, nothing if they are answered."""
    try:
        await meter.admit(session, user_id)
    except BudgetUsedUpError as exc:
        return str(exc)
    return ""


@given(by_role=ROLES, roles=st.sets(st.sampled_from("abcd")), person=st.integers(0, 9))
def test_of_several_roles_the_one_that_gives_most_counts(
    by_role: dict[str, int], roles: set[str], person: int
) -> None:
    budgets = Budgets(person=Limits(person, person), roles_day=by_role)
    limits = budgets.of_person(roles)
    mine = [by_role[role] or 1000 for role in roles if role in by_role]
    assert (limits.day or 1000) == max(mine, default=person or 1000)
    assert limits.month == person


def test_without_a_limit_nobody_is_limited() -> None:
    assert Budgets().limit_nobody
    assert not Budgets(server=Limits(month=1)).limit_nobody
    assert not Budgets(roles_month={"a": 0}).limit_nobody


async def test_a_person_is_answered_until_the_budget_is_used_up_and_after_it_renews(
    town: Town,
) -> None:
    meter = town.meter(Budgets(person=Limits(day=1000)))
    await town.use(meter, "alice", 999)
    assert await refusal(meter, "alice") == ""
    await town.use(meter, "alice", 1)
    assert await refusal(meter, "alice") == (
        "Your 1,000 tokens for today are used up, so I do not answer now; nothing went wrong. "
        "They renew at 2026-02-01 00:00 UTC."
    )
    assert await refusal(meter, "alice", "dm-1") != ""
    assert await refusal(meter, "bob") == ""
    assert await refusal(meter, "") == ""
    town.now = datetime(2026, 2, 1, tzinfo=UTC)
    assert await refusal(meter, "alice") == ""


async def test_of_two_budgets_the_one_that_renews_last_is_told(town: Town) -> None:
    town.now = datetime(2026, 2, 3, tzinfo=UTC)
    meter = town.meter(Budgets(person=Limits(10, 10)))
    await town.use(meter, "alice", 10)
    assert "for this month are used up" in await refusal(meter, "alice")
    town.now += timedelta(days=1)
    assert "They renew at 2026-03-01 00:00 UTC." in await refusal(meter, "alice")


async def test_the_people_of_a_server_share_its_budget(town: Town) -> None:
    meter = town.meter(Budgets(server=Limits(day=100, month=150)))
    await town.use(meter, "alice", 60)
    await town.use(meter, "bob", 40)
    for user in ("alice", "bob"):
        assert "This server's 100 tokens for today" in await refusal(meter, user)
    assert await refusal(meter, "alice", "elsewhere") == ""
    assert await refusal(meter, "alice", "dm-1") == ""


async def test_a_role_gives_its_budget_where_one_has_it(town: Town) -> None:
    meter = town.meter(Budgets(person=Limits(day=10), roles_day={"rich": 100}))
    await town.use(meter, "alice", 10)
    await town.use(meter, "bob", 10)
    assert "Your 10 tokens" in await refusal(meter, "alice")
    assert await refusal(meter, "bob") == ""
    assert "Your 10 tokens" in await refusal(meter, "bob", "dm-1")
    assert town.asked_in == [1, 1, None]


async def test_nobody_is_looked_up_where_roles_do_not_matter(town: Town) -> None:
    await town.meter().admit("s", "alice")
    assert town.asked_in == []
    await town.meter(Budgets(person=Limits(day=10))).admit("s", "alice")
    assert town.asked_in == [None]


async def test_the_owner_is_not_limited(town: Town) -> None:
    meter = town.meter(Budgets(person=Limits(day=1), server=Limits(day=1)))
    await town.use(meter, "owner", 5)
    assert await refusal(meter, "owner") == ""
    assert await refusal(meter, "alice") != ""


async def test_what_is_left_is_never_less_than_nothing(town: Town) -> None:
    budgets = Budgets(person=Limits(day=10))
    await town.use(town.meter(budgets), "alice", 25)
    ledger = Ledger(town.usage, budgets)
    day, month = [await ledger.of_person("alice", set(), span, NOON) for span in Span]
    assert (day.left, month.left) == (0, None)


async def test_a_meter_for_people_who_are_not_known_goes_by_the_same_budgets(town: Town) -> None:
    meter = StoredMeter(
        usage=town.usage,
        homes=town.homes,
        budgets=Budgets(person=Limits(day=1)),
        clock=lambda: NOON,
    )
    await town.use(meter, "alice", 1)
    assert await refusal(meter, "alice") != ""


async def test_a_free_meter_lets_everyone_ask() -> None:
    await FreeMeter().admit("s", "alice")


async def test_a_server_with_less_than_the_budgets_say_has_less(town: Town) -> None:
    own = {1: Limits(day=20)}

    async def limits(server_id: int) -> Limits:
        return own.get(server_id, Limits())

    meter = StoredMeter(
        usage=town.usage,
        homes=town.homes,
        server_limits=limits,
        actor_of=town.actor_of,
        clock=lambda: town.now,
    )
    await town.use(meter, "alice", 25)
    await town.use(meter, "alice", 25, "elsewhere")
    assert "This server's 20 tokens for today are used up" in await refusal(meter, "bob")
    assert await refusal(meter, "bob", "elsewhere") == ""
    assert await refusal(meter, "bob", "dm-1") == ""
    assert await refusal(meter, "owner") == ""
    ledger = Ledger(town.usage, Budgets(), limits)
    assert (await ledger.of_server(1, Span.DAY, town.now)).left == 0
