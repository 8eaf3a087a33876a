"""The live view: a page is sent what its person sees, and afterwards only what changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Protocol

from aiohttp import web

from bot.sandbox.page import message_views, views
from bot.sandbox.people.person import Person
from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources.channels import Place
from bot.sandbox.resources.messages import Message
from bot.sandbox.world import World

GATHERING = 0.01  # seconds in which changes are gathered before the page hears of them
KEPT_REQUESTS = 200

News = tuple[str, Any]


class Feed(Protocol):
    """Something that is looked at again whenever the world has changed."""

    def news(self) -> Iterator[News]:
        """Return what has changed since the last look, as named events."""


class PlaceFeed:
    """What one person sees in one place, and around it."""

    def __init__(self, world: World, person: Person, place: Place | None, extras: Json) -> None:
        self._world, self._person, self._place = world, person, place
        self._extras = extras
        self._around: Json | None = None
        self._marks: dict[int, object] | None = None

    def news(self) -> Iterator[News]:
        """Return the surroundings if they changed, and the messages that did."""
        around = views.surroundings(self._world, self._person, self._place) | self._extras
        if around != self._around:
            self._around = around
            yield "state", around
        if self._place is not None and around["here"] is not None:
            yield from self._messages(message_views.visible(self._person, self._place))

    def _messages(self, shown: list[Message]) -> Iterator[News]:
        before, self._marks = self._marks, {each.id: _mark(each) for each in shown}
        if before is None:
            yield "messages", [message_views.message(each, self._person) for each in shown]
            return
        for each in shown:
            if before.get(each.id) != self._marks[each.id]:
                yield "message", message_views.message(each, self._person)
        for number in before.keys() - self._marks.keys():
            yield "gone", {"id": str(number)}


def _mark(message: Message) -> object:
    """Return what differs whenever the message would be shown differently."""
    thread, target = message.thread, message.reference.target if message.reference else None
    return (
        message.revision,
        [(emoji, *users) for emoji, users in message.reactions.items()],
        (thread.name, len(thread.history)) if thread else None,
        (target.revision, target.deleted) if target else None,
    )


class RequestFeed:
    """The requests that bots make."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._seen = max(0, len(world.requests) - KEPT_REQUESTS)

    def news(self) -> Iterator[News]:
        """Return the requests since the last look."""
        fresh = self._world.requests[self._seen :]
        if fresh:
            first, self._seen = self._seen, self._seen + len(fresh)
            yield "requests", [views.request(first + at, each) for at, each in enumerate(fresh)]


async def stream(
    request: web.Request, world: World, feed: Feed, headers: Json, is_open: Callable[[], bool]
) -> web.StreamResponse:
    """Send the news of a feed until the page goes or the server ends."""
    response = web.StreamResponse(headers=headers | {"Content-Type": "text/event-stream"})
    await response.prepare(request)
    with suppress(ConnectionResetError):
        await response.write(b": here\n\n")
        while is_open():
            changed = world.pulse.next_beat()
            for name, data in list(feed.news()):  # all of one moment, however slow the line
                await response.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
            await changed.wait()
            await asyncio.sleep(GATHERING)
    return response
