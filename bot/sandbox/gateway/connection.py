"""The gateway, v10: one websocket connection of a bot (reference, "Gateway").

It does not hang up on a client whose heartbeats stay away.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from contextlib import suppress

from aiohttp import WSMsgType, web

from bot.sandbox.gateway import identify
from bot.sandbox.gateway.protocol import (
    END_THE_SESSION,
    Close,
    Closing,
    decoded,
    member_chunks,
)
from bot.sandbox.rate_limits.limits import Bucket
from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources.sessions import Op, Session
from bot.sandbox.resources.users import Intents
from bot.sandbox.world import World

ACK_AFTER = 0.02
"""Seconds for which a heartbeat and its acknowledgement are on their way, as to the real Discord.

discord.py notes when it sent a heartbeat only afterwards, in another thread. What is acknowledged
before that looks to it as if it had taken since the heartbeat before.
"""


class Connection:
    """A websocket, and once it has identified the session that it carries."""

    def __init__(
        self,
        world: World,
        socket: web.WebSocketResponse,
        transport: asyncio.BaseTransport | None,
        *,
        compressed: bool,
    ) -> None:
        self.world, self.socket, self._transport = world, socket, transport
        self.session: Session | None = None
        self.outbox: asyncio.Queue[Json] = asyncio.Queue()
        self._stream = zlib.compressobj() if compressed else None
        self._writer: asyncio.Task[None] | None = None
        self._silent = False
        self._code: int | None = None
        self._frames = Bucket(world.limits.frames) if world.limits.frames else None
        # The frames of a compressed stream have to leave in the order they were packed.
        self._turn = asyncio.Lock()

    async def serve(self) -> None:
        """Talk until one side hangs up."""
        interval = int(self.world.heartbeat_interval * 1000)
        try:
            await self.say({"op": Op.HELLO, "d": {"heartbeat_interval": interval}})
            async for message in self.socket:
                if message.type is WSMsgType.TEXT and not self._silent:
                    await self._receive(message.data)
        except ConnectionResetError:
            pass  # hung up in the middle of an answer
        except Closing as closing:
            await self.close(closing.code)
        finally:
            await self._end()

    async def _end(self) -> None:
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.wait({self._writer})
        if self._code is None:
            self._part(self.socket.close_code)

    def _part(self, code: int | None) -> None:
        """Let go of the session, which goes on for a while unless the code ends it."""
        self._code = code or Close.ABNORMAL
        session = self.session
        if session is not None and session.line is self:
            if self._code in END_THE_SESSION:
                session.line = None
                self.world.hub.end(session)
            else:
                session.leave(self.world.clock.now())
        self.world.pulse.beat()

    async def close(self, code: int) -> None:
        """Hang up."""
        self._part(code)
        name = Close(code).name if code in list(Close) else ""
        await self.socket.close(code=code, message=name.encode())

    def drop(self) -> None:
        """Cut the connection without a word."""
        self._part(Close.ABNORMAL)
        if isinstance(self._transport, asyncio.Transport):
            self._transport.abort()

    def fall_silent(self, *, events_too: bool) -> None:
        """Hear nothing any more, and so acknowledge nothing."""
        self._silent = True
        if events_too:
            self.outbox = asyncio.Queue()  # nobody reads it; the session keeps what comes

    async def say(self, frame: Json) -> None:
        """Send a frame."""
        text = json.dumps({"s": None, "t": None, **frame})
        async with self._turn:
            if self._stream is None:
                await self.socket.send_str(text)
            else:
                packed = self._stream.compress(text.encode())
                await self.socket.send_bytes(packed + self._stream.flush(zlib.Z_SYNC_FLUSH))

    async def _receive(self, text: str) -> None:
        if self._frames is not None and not self._frames.take(self.world.clock.now()):
            raise Closing(Close.RATE_LIMITED)
        op, data = decoded(text)
        match op:
            case Op.HEARTBEAT:
                await self._acknowledge()
            case Op.IDENTIFY | Op.RESUME:
                await self._open(op, data)
            case Op.PRESENCE | Op.VOICE:
                self._known()
            case Op.REQUEST_MEMBERS:
                self._chunk(self._known(), data)
            case _:
                raise Closing(Close.UNKNOWN_OPCODE)

    async def _acknowledge(self) -> None:
        await asyncio.sleep(ACK_AFTER)
        if not self._silent:
            await self.say({"op": Op.HEARTBEAT_ACK})

    def _known(self) -> Session:
        if self.session is None:
            raise Closing(Close.NOT_AUTHENTICATED)
        return self.session

    async def _open(self, op: int, data: Json) -> None:
        if self.session is not None:
            raise Closing(Close.ALREADY_AUTHENTICATED)
        try:
            if op == Op.IDENTIFY:
                self._begin(identify.identified(self.world, data), since=0)
            else:
                self._begin(*identify.resumed(self.world, data))
        except identify.InvalidSession as invalid:
            await self.say({"op": Op.INVALID_SESSION, "d": invalid.resumable})

    def _begin(self, session: Session, since: int) -> None:
        before, self.session = session.line, session
        session.carried_by(self, since)
        if before is not None:
            before.drop()
        self._writer = asyncio.create_task(self._write(self.outbox))
        self.world.pulse.beat()

    async def _write(self, outbox: asyncio.Queue[Json]) -> None:
        with suppress(ConnectionResetError):  # the other side is gone; reading ends as well
            while True:
                await self.say(await outbox.get())

    def _chunk(self, session: Session, data: Json) -> None:
        mine = identify.guilds(self.world, session)
        guild = next((each for each in mine if str(each.id) == str(data.get("guild_id"))), None)
        if guild is None:
            return
        everyone = not data.get("query") and not data.get("user_ids") and not data.get("limit")
        if everyone and Intents.GUILD_MEMBERS not in session.intents:
            raise Closing(Close.DISALLOWED_INTENTS)
        for body in member_chunks(guild, data):
            session.dispatch("GUILD_MEMBERS_CHUNK", body)
