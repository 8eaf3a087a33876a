"""Scheduled events of a guild; only those outside of Discord, as there are no voice channels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.sandbox.refusals.errors import Json, Refusal
from bot.sandbox.refusals.forms import Form
from bot.sandbox.resources import payloads
from bot.sandbox.resources.guilds import Guild
from bot.sandbox.resources.permissions import Permissions, in_guild
from bot.sandbox.resources.users import Intents, User

GUILD_ONLY = 2
EXTERNAL = 3
SCHEDULED = 1
MOST = 100


@dataclass(frozen=True)
class ScheduledEvent:
    """Something that will take place."""

    id: int
    guild: Guild
    creator: User
    name: str
    location: str
    start: datetime
    end: datetime
    description: str | None


def create(guild: Guild, creator: User, form: Form) -> ScheduledEvent:
    """Plan an event, as the body of a request says (reference, "Guild Scheduled Event")."""
    if Permissions.CREATE_EVENTS not in in_guild(guild, creator):
        raise Refusal.MISSING_PERMISSIONS.error()
    now = guild.world.clock.now()
    if sum(each.end > now for each in guild.events) >= MOST:
        raise Refusal.TOO_MANY_EVENTS.error()
    event = _read(guild, creator, form, now)
    guild.events.append(event)
    guild.world.hub.in_guild(
        guild,
        "GUILD_SCHEDULED_EVENT_CREATE",
        lambda _: payload(event),
        Intents.GUILD_SCHEDULED_EVENTS,
    )
    return event


def _read(guild: Guild, creator: User, form: Form, now: datetime) -> ScheduledEvent:
    form.choice("entity_type", {EXTERNAL}, required=True)
    form.choice("privacy_level", {GUILD_ONLY}, required=True)
    if form.body.get("channel_id") is not None:
        form.wrong("GUILD_SCHEDULED_EVENT_CHANNEL_ID", "Must be null for this type.", "channel_id")
    name = form.text("name", 1, 100, required=True)
    description = form.text("description", 1, 1000)
    start = form.time("scheduled_start_time", required=True)
    end = form.time("scheduled_end_time", required=True)
    metadata = form.child("entity_metadata")
    if metadata is None:
        form.wrong("BASE_TYPE_REQUIRED", "This field is required", "entity_metadata")
    location = metadata.text("location", 1, 100, required=True) if metadata else None
    if start is not None and start <= now:
        text = "Cannot schedule event in the past."
        form.wrong("GUILD_SCHEDULED_EVENT_SCHEDULE_PAST", text, "scheduled_start_time")
    if start is not None and end is not None and end <= start:
        text = "Cannot end before it starts."
        form.wrong("GUILD_SCHEDULED_EVENT_END_BEFORE_START", text, "scheduled_end_time")
    form.finish()
    assert name is not None  # noqa: S101 - these are required
    assert location is not None  # noqa: S101
    assert start is not None  # noqa: S101
    assert end is not None  # noqa: S101
    number = guild.world.ids.next()
    return ScheduledEvent(number, guild, creator, name, location, start, end, description)


def payload(event: ScheduledEvent) -> Json:
    """Return an event as Discord tells it."""
    return {
        "id": str(event.id),
        "guild_id": str(event.guild.id),
        "channel_id": None,
        "creator_id": str(event.creator.id),
        "creator": payloads.user(event.creator),
        "name": event.name,
        "description": event.description,
        "scheduled_start_time": payloads.moment(event.start),
        "scheduled_end_time": payloads.moment(event.end),
        "privacy_level": GUILD_ONLY,
        "status": SCHEDULED,
        "entity_type": EXTERNAL,
        "entity_id": None,
        "entity_metadata": {"location": event.location},
        "image": None,
        "recurrence_rule": None,
        "guild_scheduled_event_exceptions": [],
    }
