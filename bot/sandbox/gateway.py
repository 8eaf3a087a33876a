"""The gateway, v10: one websocket connection of a bot (reference, "Gateway")."""

from __future__ import annotations

import asyncio
import json
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from bot.sandbox import payloads
from bot.sandbox.dispatch import Session
from bot.sandbox.errors import Json
from bot.sandbox.gateway_protocol import (
    Close,
    Closing,
    Op,
    decoded,
    intents_of,
    members_asked_for,
    shard_of,
)
from bot.sandbox.users import Bot, Intents

if TYPE_CHECKING:
    from bot.sandbox.guilds import Guild
    from bot.sandbox.world import World

HEARTBEAT_MS = 41_250
MOST_IN_CHUNK = 1000


class Connection:
    """A websocket, and once it has identified the session that it carries."""

    def __init__(self, world: World, socket: web.WebSocketResponse, *, compressed: bool) -> None:
        self.world, self.socket = world, socket
        self.session: Session | None = None
        self._stream = zlib.compressobj() if compressed else None
        self._writer: asyncio.Task[None] | None = None
        # The frames of a compressed stream have to leave in the order they were packed.
        self._turn = asyncio.Lock()

    async def serve(self) -> None:
        """Talk until one side hangs up."""
        try:
            await self._send({"op": Op.HELLO, "d": {"heartbeat_interval": HEARTBEAT_MS}})
            async for message in self.socket:
                if message.type is WSMsgType.TEXT:
                    await self._receive(message.data)
        except ConnectionResetError:
            pass  # hung up in the middle of an answer
        except Closing as closing:
            await self.socket.close(code=closing.code, message=closing.code.name.encode())
        finally:
            await self._end()

    async def _end(self) -> None:
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.wait({self._writer})
        if self.session in self.world.hub.sessions:
            self.world.hub.sessions.remove(self.session)
        self.world.pulse.beat()

    async def _send(self, frame: Json) -> None:
        text = json.dumps({"s": None, "t": None, **frame})
        async with self._turn:
            if self._stream is None:
                await self.socket.send_str(text)
            else:
                packed = self._stream.compress(text.encode())
                await self.socket.send_bytes(packed + self._stream.flush(zlib.Z_SYNC_FLUSH))

    async def _receive(self, text: str) -> None:
        op, data = decoded(text)
        match op:
            case Op.HEARTBEAT:
                await self._send({"op": Op.HEARTBEAT_ACK})
            case Op.IDENTIFY:
                await self._identify(data)
            case Op.RESUME:
                # Nothing is kept to replay: the client has to begin a new session.
                await self._send({"op": Op.INVALID_SESSION, "d": False})
            case Op.PRESENCE | Op.VOICE:
                self._known()
            case Op.REQUEST_MEMBERS:
                self._chunk(self._known(), data)
            case _:
                raise Closing(Close.UNKNOWN_OPCODE)

    def _known(self) -> Session:
        if self.session is None:
            raise Closing(Close.NOT_AUTHENTICATED)
        return self.session

    async def _identify(self, data: Json) -> None:
        if self.session is not None:
            raise Closing(Close.ALREADY_AUTHENTICATED)
        bot = self._bot(data.get("token"))
        session = Session(bot, intents_of(bot, data.get("intents")), shard_of(data.get("shard")))
        self.session = session
        session.dispatch("READY", self._ready(session))
        for guild in self._guilds(session):
            # Said of guilds that READY named, and not of one that is joined later.
            known = {"unavailable": False}
            session.dispatch("GUILD_CREATE", payloads.guild_create(guild, session) | known)
        self.world.hub.sessions.append(session)
        self._writer = asyncio.create_task(self._write(session))
        self.world.pulse.beat()

    def _bot(self, token: Any) -> Bot:
        for bot in self.world.bots:
            if token == bot.token:
                return bot
        raise Closing(Close.AUTHENTICATION_FAILED)

    async def _write(self, session: Session) -> None:
        with suppress(ConnectionResetError):  # the other side is gone; reading ends as well
            while True:
                await self._send(await session.frames.get())

    def _guilds(self, session: Session) -> list[Guild]:
        mine = [each for each in self.world.guilds if session.bot.id in each.members]
        return [each for each in mine if session.serves(each)]

    def _ready(self, session: Session) -> Json:
        guilds = [{"id": str(each.id), "unavailable": True} for each in self._guilds(session)]
        application = payloads.application(session.bot)
        return {
            "v": 10,
            "user": payloads.user(session.bot),
            "guilds": guilds,
            "session_id": session.id,
            "resume_gateway_url": self.world.gateway_url,
            "shard": list(session.shard),
            "application": {"id": application["id"], "flags": application["flags"]},
        }

    def _chunk(self, session: Session, data: Json) -> None:
        guild = next(
            (each for each in self._guilds(session) if str(each.id) == str(data.get("guild_id"))),
            None,
        )
        if guild is None:
            return
        everyone = not data.get("query") and not data.get("user_ids") and not data.get("limit")
        if everyone and Intents.GUILD_MEMBERS not in session.intents:
            raise Closing(Close.DISALLOWED_INTENTS)
        found = members_asked_for(guild, data)
        chunks = [found[at : at + MOST_IN_CHUNK] for at in range(0, len(found), MOST_IN_CHUNK)]
        for index, chunk in enumerate(chunks or [[]]):
            body = {
                "guild_id": str(guild.id),
                "members": chunk,
                "chunk_index": index,
                "chunk_count": len(chunks) or 1,
                "not_found": [],
            }
            nonce = {"nonce": data["nonce"]} if "nonce" in data else {}
            session.dispatch("GUILD_MEMBERS_CHUNK", body | nonce)
