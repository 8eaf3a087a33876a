"""Registering application commands, globally or for a guild."""

from typing import Any

from bot.sandbox.refusals.errors import Refusal
from bot.sandbox.resources import commands
from bot.sandbox.rest.call import Call, Routes, as_object


def _scope(call: Call) -> int | None:
    if call.number("application") != call.bot.application_id:
        raise Refusal.MISSING_ACCESS.error()
    return call.guild().id if "guild" in call.request.match_info else None


async def listed(call: Call) -> Any:
    """Return what is registered."""
    return call.bot.commands.get(_scope(call), [])


async def overwrite(call: Call) -> Any:
    """Put these commands in the place of all others."""
    scope, bodies = _scope(call), await call.json()
    if not isinstance(bodies, list):
        raise Refusal.INVALID_JSON.error()
    return commands.register(call.bot, scope, bodies)


async def create(call: Call) -> Any:
    """Register one command, or put it in the place of its namesake."""
    return commands.upsert(call.bot, _scope(call), as_object(await call.json()))


async def fetch(call: Call) -> Any:
    """Return one command."""
    return commands.find(call.bot, _scope(call), call.number("command"))


async def change(call: Call) -> Any:
    """Change one command."""
    scope = _scope(call)
    found = commands.find(call.bot, scope, call.number("command"))
    return commands.upsert(call.bot, scope, found | as_object(await call.json()))


async def remove(call: Call) -> Any:
    """Take one command away."""
    scope = _scope(call)
    found = commands.find(call.bot, scope, call.number("command"))
    call.bot.commands[scope].remove(found)


APPLICATION = "/applications/{application:\\d+}"
ROUTES: Routes = [
    route
    for base in (APPLICATION + "/commands", APPLICATION + "/guilds/{guild:\\d+}/commands")
    for route in (
        ("GET", base, listed),
        ("PUT", base, overwrite),
        ("POST", base, create),
        ("GET", base + "/{command:\\d+}", fetch),
        ("PATCH", base + "/{command:\\d+}", change),
        ("DELETE", base + "/{command:\\d+}", remove),
    )
]
