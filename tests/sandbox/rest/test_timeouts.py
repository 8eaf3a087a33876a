"""Time outs: who may time out whom, for how long, and what is left to whom it befell."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.sandbox import ManualClock
from bot.sandbox.resources.permissions import Permissions
from tests.sandbox.clients import Home, Http, make_home

FIELD = "communication_disabled_until"


@pytest.fixture(name="home")
def _home() -> Home:
    home = make_home(clock=ManualClock())
    home.guild.grant(home.alice, "CHANGE_NICKNAME")
    home.guild.grant(home.bot, "MODERATE_MEMBERS")
    return home


def until(home: Home, **ahead: float) -> str:
    moment: datetime = home.world.clock.now() + timedelta(**ahead)
    return moment.isoformat()


async def timed_out(home: Home, http: Http, user: Any, when: str | None) -> Any:
    path = f"/guilds/{home.guild.id}/members/{user.id}"
    return await http("PATCH", path, {FIELD: when}, headers={"X-Audit-Log-Reason": "too%20loud"})


async def test_who_is_timed_out_only_looks_on(home: Home, http: Http) -> None:
    status, body = await timed_out(home, http, home.alice, until(home, minutes=5))
    assert (status, body[FIELD]) == (200, until(home, minutes=5))
    left = Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY
    assert home.general.permissions_for(home.alice) == left
    with pytest.raises(PermissionError):
        await home.alice.says("hi", in_=home.general)
    [entry] = home.guild.audit_log
    assert (entry.by, entry.target, entry.reason) == (home.bot, home.alice, "too loud")
    assert isinstance(home.world.clock, ManualClock)
    home.world.clock.advance(301)
    await home.alice.says("hi again", in_=home.general)


async def test_a_time_out_can_be_ended(home: Home, http: Http) -> None:
    await timed_out(home, http, home.alice, until(home, minutes=5))
    assert (await timed_out(home, http, home.alice, None))[0] == 200
    await home.alice.says("hi again", in_=home.general)


async def test_a_time_out_lasts_at_most_28_days(home: Home, http: Http) -> None:
    assert (await timed_out(home, http, home.alice, until(home, days=28)))[0] == 200
    _, body = await timed_out(home, http, home.alice, until(home, days=28, seconds=1))
    assert body["code"] == 50035


async def test_nobody_is_timed_out_against_the_hierarchy(home: Home, http: Http) -> None:
    soon = until(home, minutes=5)
    above = home.world.person("above")
    home.guild.join(above, permissions={"CHANGE_NICKNAME"})
    admin = home.world.person("admin")
    home.guild.join(admin, permissions={"ADMINISTRATOR"})
    for whom in (home.guild.owner, home.bot, above, admin):
        assert (await timed_out(home, http, whom, soon))[1]["code"] == 50013
    stranger = home.world.person("stranger")
    assert (await timed_out(home, http, stranger, soon))[1]["code"] == 10007


async def test_a_time_out_takes_the_permission(home: Home, http: Http) -> None:
    role = home.guild.members[home.bot.id].roles[-1]
    home.guild.take(home.bot, role)
    _, body = await timed_out(home, http, home.alice, until(home, minutes=5))
    assert body["code"] == 50013


async def test_fields_that_are_not_there_are_refused(home: Home, http: Http) -> None:
    path = f"/guilds/{home.guild.id}/members/{home.alice.id}"
    assert (await http("PATCH", path, {"nick": "al"}))[1]["code"] == 50035


async def test_a_reason_has_at_most_512_characters(home: Home, http: Http) -> None:
    path = f"/guilds/{home.guild.id}/members/{home.alice.id}"
    headers = {"X-Audit-Log-Reason": "x" * 513}
    assert (await http("PATCH", path, {FIELD: None}, headers=headers))[0] == 400
