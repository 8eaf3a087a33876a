"""Scheduled events: planning them, and which there are."""

from typing import Any

from bot.sandbox.resources import scheduled_events
from bot.sandbox.resources.guilds import AuditEntry
from bot.sandbox.rest.call import Call, Routes


async def create(call: Call) -> Any:
    """Plan an event."""
    guild, form, reason = call.guild(), await call.form(), call.reason
    event = scheduled_events.create(guild, call.bot, form)
    guild.audit_log.append(AuditEntry("event_create", call.bot, event, reason))
    return scheduled_events.payload(event)


async def listed(call: Call) -> Any:
    """Return what is planned."""
    return [scheduled_events.payload(each) for each in call.guild().events]


EVENTS = "/guilds/{guild:\\d+}/scheduled-events"
ROUTES: Routes = [("POST", EVENTS, create), ("GET", EVENTS, listed)]
