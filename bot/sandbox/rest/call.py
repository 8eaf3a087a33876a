"""One request to the REST interface, and what every handler asks of it."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from aiohttp import BodyPartReader, web

from bot.sandbox.posting.drafts import Upload
from bot.sandbox.posting.posts import require
from bot.sandbox.refusals.errors import Json, Refusal
from bot.sandbox.refusals.forms import Form
from bot.sandbox.resources.channels import Place
from bot.sandbox.resources.guilds import Guild
from bot.sandbox.resources.messages import Message
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.users import Bot
from bot.sandbox.world import World

LONGEST_REASON = 512
FILE_FIELD = re.compile(r"files\[(\d{1,2})\]")


@dataclass
class Call:
    """A request with the world it is about."""

    world: World
    request: web.Request

    @property
    def bot(self) -> Bot:
        """The bot whose token the request carries, or 401."""
        header = self.request.headers.get("Authorization", "")
        for bot in self.world.bots:
            if header == f"Bot {bot.token}":
                return bot
        raise Refusal.UNAUTHORIZED.error()

    def text(self, name: str) -> str:
        """Return a part of the path."""
        return unquote(self.request.match_info[name])

    def number(self, name: str) -> int:
        """Return an id in the path; "@me" is the bot's own."""
        value = self.text(name)
        return self.bot.id if value == "@me" else int(value)

    def query(self, name: str) -> int | None:
        """Return a number from the query."""
        form = Form(dict(self.request.query))
        value = form.snowflake(name)
        form.finish()
        return value

    @property
    def reason(self) -> str | None:
        """Why it is done, for the audit log; a header that is percent-encoded."""
        text = unquote(self.request.headers.get("X-Audit-Log-Reason", ""))
        if len(text) > LONGEST_REASON:
            raise Refusal.INVALID_FORM.error()
        return text or None

    async def json(self) -> Any:
        """Return the JSON body; one with a key twice is as invalid as broken text."""
        return parsed(await self.request.read())

    async def form(self) -> Form:
        """Return the JSON body, which must be an object."""
        return Form(as_object(await self.json()))

    async def body(self) -> tuple[Json, dict[int, Upload]]:
        """Return a message's body with its files, sent as JSON or in parts."""
        if self.request.content_type != "multipart/form-data":
            return as_object(await self.json()), {}
        payload: Any = {}
        files: dict[int, Upload] = {}
        async for part in await self.request.multipart():
            if not isinstance(part, BodyPartReader):
                continue
            data = bytes(await part.read(decode=True))
            name = part.name or ""
            if name == "payload_json":
                payload = parsed(data)
            elif found := FILE_FIELD.fullmatch(name):
                files[int(found[1])] = _upload(part, data)
        return as_object(payload), files

    def place(self, *needed: Permissions) -> Place:
        """Return the channel, thread or DM of the path, if the bot may see it."""
        place = self.world.places.get(self.number("channel"))
        if place is None:
            raise Refusal.UNKNOWN_CHANNEL.error()
        require(place, self.bot, *needed)
        return place

    def message(self, *needed: Permissions) -> Message:
        """Return the message of the path."""
        found = self.place(*needed).find(self.number("message"))
        if found is None:
            raise Refusal.UNKNOWN_MESSAGE.error()
        return found

    def guild(self) -> Guild:
        """Return the guild of the path, if the bot is in it."""
        number = self.number("guild")
        for guild in self.world.guilds:
            if guild.id == number and self.bot.id in guild.members:
                return guild
        raise Refusal.UNKNOWN_GUILD.error()


Handler = Callable[[Call], Awaitable[Any]]
Routes = list[tuple[str, str, Handler]]


def _upload(part: BodyPartReader, data: bytes) -> Upload:
    kind = part.headers.get("Content-Type")
    return Upload(part.filename or "file", data, kind)


def as_object(value: Any) -> Json:
    """Return the value if it is a JSON object."""
    if not isinstance(value, dict):
        raise Refusal.INVALID_JSON.error()
    return value


def parsed(text: bytes) -> Any:
    """Return what a JSON text says; a key that stands twice is refused."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except ValueError:
        raise Refusal.INVALID_JSON.error() from None


def _unique(pairs: list[tuple[str, Any]]) -> Json:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice")
    return result
