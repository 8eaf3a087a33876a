"""The gateway's numbers, and what a client's frames must look like."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any

from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources import payloads
from bot.sandbox.resources.guilds import Guild
from bot.sandbox.resources.sessions import Op
from bot.sandbox.resources.users import EVERY_INTENT_BIT, PRIVILEGED, Bot, Intents

MOST_IN_CHUNK = 1000
WITH_DATA = {Op.IDENTIFY, Op.PRESENCE, Op.RESUME, Op.REQUEST_MEMBERS}


class Close(IntEnum):
    """The close codes used here; 1006 stands for a socket that ended without one."""

    NORMAL = 1000
    GOING_AWAY = 1001
    ABNORMAL = 1006
    UNKNOWN_ERROR = 4000
    UNKNOWN_OPCODE = 4001
    DECODE_ERROR = 4002
    NOT_AUTHENTICATED = 4003
    AUTHENTICATION_FAILED = 4004
    ALREADY_AUTHENTICATED = 4005
    INVALID_SEQUENCE = 4007
    RATE_LIMITED = 4008
    SESSION_TIMED_OUT = 4009
    INVALID_SHARD = 4010
    SHARDING_REQUIRED = 4011
    INVALID_VERSION = 4012
    INVALID_INTENTS = 4013
    DISALLOWED_INTENTS = 4014


# After these there is nothing to resume (reference, "Gateway Close Event Codes").
END_THE_SESSION = {
    Close.NORMAL,
    Close.GOING_AWAY,
    Close.AUTHENTICATION_FAILED,
    Close.INVALID_SEQUENCE,
    Close.SESSION_TIMED_OUT,
    Close.INVALID_SHARD,
    Close.SHARDING_REQUIRED,
    Close.INVALID_VERSION,
    Close.INVALID_INTENTS,
    Close.DISALLOWED_INTENTS,
}


class Closing(Exception):
    """The server hangs up with a code."""

    def __init__(self, code: Close) -> None:
        super().__init__(code.name)
        self.code = code


def members_asked_for(guild: Guild, data: Json) -> list[Json]:
    """Return the members that a request names, by id or by the start of their name."""
    wanted = data.get("user_ids")
    prefix = str(data.get("query", "")).lower()
    members = list(guild.members.values())
    if wanted:
        ids = {str(each) for each in (wanted if isinstance(wanted, list) else [wanted])}
        members = [each for each in members if str(each.user.id) in ids]
    found = [each for each in members if (each.nick or each.user.name).lower().startswith(prefix)]
    limit = data.get("limit") or len(found)
    return [payloads.member(each) for each in found[:limit]]


def member_chunks(guild: Guild, data: Json) -> list[Json]:
    """Return the frames' worth of members that a request names."""
    found = members_asked_for(guild, data)
    chunks = [found[at : at + MOST_IN_CHUNK] for at in range(0, len(found), MOST_IN_CHUNK)]
    nonce = {"nonce": data["nonce"]} if "nonce" in data else {}
    return [
        {
            "guild_id": str(guild.id),
            "members": chunk,
            "chunk_index": index,
            "chunk_count": len(chunks) or 1,
            "not_found": [],
            **nonce,
        }
        for index, chunk in enumerate(chunks or [[]])
    ]


def decoded(text: str) -> tuple[int, Any]:
    """Return the opcode and data of a frame."""
    try:
        frame = json.loads(text)
        op, data = int(frame["op"]), frame.get("d")
    except (ValueError, KeyError, TypeError):
        raise Closing(Close.DECODE_ERROR) from None
    if op in WITH_DATA and not isinstance(data, dict):
        raise Closing(Close.DECODE_ERROR)
    return op, data


def intents_of(bot: Bot, value: Any) -> Intents:
    """Return the intents that an identify asks for, if the bot may have them."""
    if not isinstance(value, int) or value & ~EVERY_INTENT_BIT:
        raise Closing(Close.INVALID_INTENTS)
    intents = Intents(value)
    if intents & PRIVILEGED & ~bot.privileged:
        raise Closing(Close.DISALLOWED_INTENTS)
    return intents


def shard_of(value: Any) -> tuple[int, int]:
    """Return the shard that an identify names."""
    match value:
        case None:
            return (0, 1)
        case [int(number), int(count)] if 0 <= number < count:
            return (number, count)
        case _:
            raise Closing(Close.INVALID_SHARD)
