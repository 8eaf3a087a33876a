"""How gateway sessions begin and go on (reference, "Identifying" and "Resuming")."""

from __future__ import annotations

from typing import Any

from bot.sandbox.gateway.protocol import Close, Closing, intents_of, shard_of
from bot.sandbox.rate_limits.limits import SESSION_STARTS, Rate
from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources import payloads
from bot.sandbox.resources.guilds import Guild
from bot.sandbox.resources.sessions import Session
from bot.sandbox.resources.users import Bot
from bot.sandbox.world import World


class InvalidSession(Exception):
    """The session cannot be had; ``resumable`` says whether to try again with it."""

    def __init__(self, *, resumable: bool = False) -> None:
        super().__init__("resumable" if resumable else "not resumable")
        self.resumable = resumable


def identified(world: World, data: Json) -> Session:
    """Begin the session that an identify asks for.

    Raises:
        InvalidSession: Too many begin at once.
        Closing: It is refused.
    """
    bot = account(world, data.get("token"))
    session = Session(bot, intents_of(bot, data.get("intents")), shard_of(data.get("shard")))
    if not _may_identify(world, session):
        raise InvalidSession
    if world.traffic.take(("starts", bot), starts(world)) and world.limits.starts is not None:
        # Discord ends all sessions and resets the token ("Session Start Limit").
        raise Closing(Close.AUTHENTICATION_FAILED)
    session.dispatch("READY", _ready(world, session))
    for guild in guilds(world, session):
        # Said of guilds that READY named, and not of one that is joined later.
        known = {"unavailable": False}
        session.dispatch("GUILD_CREATE", payloads.guild_create(guild, session) | known)
    world.hub.add(session)
    return session


def _may_identify(world: World, session: Session) -> bool:
    """Whether a shard's turn has come (reference, "Max Concurrency")."""
    rate = world.limits.identifies
    if rate is None:
        return True
    key = session.shard[0] % rate.count
    return not world.traffic.take(("identifies", session.bot, key), Rate(1, rate.seconds))


def resumed(world: World, data: Json) -> tuple[Session, int]:
    """Return the session that a resume asks for, and the number it has come to.

    Raises:
        InvalidSession: It is gone, or what was missed is.
        Closing: It is refused.
    """
    bot = account(world, data.get("token"))
    if (resumable := world.faults.refused_resume(bot)) is not None:
        raise InvalidSession(resumable=resumable)
    session, sequence = world.hub.resumable(data.get("session_id"), bot), data.get("seq")
    if session is None:
        raise InvalidSession
    if not isinstance(sequence, int) or not 0 <= sequence <= session.sequence:
        world.hub.end(session)
        raise Closing(Close.INVALID_SEQUENCE)
    if not session.remembers(sequence):
        world.hub.end(session)
        raise InvalidSession
    return session, sequence


def account(world: World, token: Any) -> Bot:
    """Return whose token it is, or hang up."""
    for bot in world.bots:
        if token == bot.token:
            return bot
    raise Closing(Close.AUTHENTICATION_FAILED)


def starts(world: World) -> Rate:
    """Return how many sessions a bot may begin in a day; where that is not kept it is told."""
    return world.limits.starts or SESSION_STARTS


def guilds(world: World, session: Session) -> list[Guild]:
    """Return the guilds that come to a session's shard."""
    mine = [each for each in world.guilds if session.bot.id in each.members]
    return [each for each in mine if session.serves(each)]


def _ready(world: World, session: Session) -> Json:
    application = payloads.application(session.bot)
    named = [{"id": str(each.id), "unavailable": True} for each in guilds(world, session)]
    return {
        "v": 10,
        "user": payloads.user(session.bot),
        "guilds": named,
        "session_id": session.id,
        "resume_gateway_url": world.gateway_url,
        "shard": list(session.shard),
        "application": {"id": application["id"], "flags": application["flags"]},
    }
