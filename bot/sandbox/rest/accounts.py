"""Accounts, applications, the way to the gateway, and DMs."""

from typing import Any

from bot.sandbox.gateway import identify
from bot.sandbox.refusals.errors import Refusal
from bot.sandbox.resources import payloads
from bot.sandbox.rest.call import Call, Routes


async def me(call: Call) -> Any:
    """Return the bot's own account."""
    return payloads.user(call.bot) | {"verified": True, "mfa_enabled": False, "email": None}


async def user(call: Call) -> Any:
    """Return any account."""
    found = call.world.users.get(call.number("user"))
    if found is None:
        raise Refusal.UNKNOWN_USER.error()
    return payloads.user(found)


async def application(call: Call) -> Any:
    """Return the bot's application."""
    return payloads.application(call.bot)


async def my_guilds(call: Call) -> Any:
    """Return the guilds that the bot is in."""
    mine = [each for each in call.world.guilds if call.bot.id in each.members]
    return [
        {
            "id": str(each.id),
            "name": each.name,
            "icon": None,
            "owner": each.owner is call.bot,
            "permissions": "0",
            "features": [],
        }
        for each in mine
    ]


async def open_dm(call: Call) -> Any:
    """Return the DM channel with someone."""
    form = await call.form()
    number = form.snowflake("recipient_id", required=True)
    form.finish()
    found = call.world.users.get(number or 0)
    if found is None:
        raise Refusal.UNKNOWN_USER.error()
    if found.is_bot:
        raise Refusal.DMS_CLOSED.error()
    return payloads.place(call.world.direct(found, call.bot))


async def gateway(call: Call) -> Any:
    """Return the address of the gateway."""
    rate, at_once = identify.starts(call.world), call.world.limits.identifies
    left, reset_after = call.world.traffic.left(("starts", call.bot), rate)
    starts = {
        "total": rate.count,
        "remaining": left,
        "reset_after": int(reset_after * 1000),
        "max_concurrency": at_once.count if at_once else 1,
    }
    url = f"ws://{call.request.host}/gateway"
    return {"url": url, "shards": 1, "session_start_limit": starts}


ROUTES: Routes = [
    ("GET", "/users/@me", me),
    ("GET", "/users/@me/guilds", my_guilds),
    ("POST", "/users/@me/channels", open_dm),
    ("GET", "/users/{user:\\d+}", user),
    ("GET", "/applications/@me", application),
    ("GET", "/oauth2/applications/@me", application),
    ("GET", "/gateway/bot", gateway),
]
