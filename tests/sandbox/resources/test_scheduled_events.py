"""Scheduled events outside of Discord."""

from datetime import timedelta
from typing import Any

import pytest

from tests.sandbox.clients import EVERYTHING, Home, Http, Line


def party(home: Home, **changed: Any) -> dict[str, Any]:
    start = home.world.clock.now() + timedelta(days=1)
    return {
        "name": "Party",
        "privacy_level": 2,
        "entity_type": 3,
        "entity_metadata": {"location": "The park"},
        "scheduled_start_time": start.isoformat(),
        "scheduled_end_time": (start + timedelta(hours=2)).isoformat(),
    } | changed


def path(home: Home) -> str:
    return f"/guilds/{home.guild.id}/scheduled-events"


async def test_an_event_is_planned_and_told(home: Home, http: Http, line: Line) -> None:
    home.guild.grant(home.bot, "CREATE_EVENTS")
    await line.begins(home, EVERYTHING | 1 << 16)
    status, body = await http("POST", path(home), party(home, description="Bring cake."))
    assert (status, body["name"], body["status"]) == (200, "Party", 1)
    assert (await line.hears("GUILD_SCHEDULED_EVENT_CREATE"))["id"] == body["id"]
    [event] = home.guild.events
    assert (event.location, event.description, event.creator) == (
        "The park",
        "Bring cake.",
        home.bot,
    )
    assert [each["id"] for each in (await http("GET", path(home)))[1]] == [body["id"]]


async def test_planning_takes_the_permission(home: Home, http: Http) -> None:
    assert (await http("POST", path(home), party(home)))[1]["code"] == 50013


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 101},
        {"description": "x" * 1001},
        {"entity_type": 2},
        {"privacy_level": 1},
        {"entity_metadata": None},
        {"entity_metadata": {"location": "x" * 101}},
        {"channel_id": "1"},
        {"scheduled_start_time": "tomorrow"},
        {"scheduled_start_time": "2001-01-01T00:00:00+00:00"},
        {"scheduled_end_time": None},
        {"scheduled_end_time": "2001-01-01T00:00:00"},
    ],
)
async def test_a_form_that_is_wrong_is_refused(
    home: Home, http: Http, wrong: dict[str, Any]
) -> None:
    home.guild.grant(home.bot, "CREATE_EVENTS")
    assert (await http("POST", path(home), party(home, **wrong)))[1]["code"] == 50035
    assert home.guild.events == []


async def test_a_hundred_events_are_planned_at_most(home: Home, http: Http) -> None:
    home.guild.grant(home.bot, "CREATE_EVENTS")
    answers = [await http("POST", path(home), party(home)) for _ in range(101)]
    assert answers[99][0] == 200
    assert answers[100][1]["code"] == 30038
