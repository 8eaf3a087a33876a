"""The sandbox as a world: the real client talks to it over a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from bot import sandbox
from bot.frontend import FrontendOptions, ParleyClient
from bot.sandbox import Overwrite, World, serve
from bot.sandbox.model import ScriptedModel, serve_model
from tests.e2e.stage import Stage, Tools
from tests.worlds.scene import Said, Scene, Someone, Somewhere, Told

T = TypeVar("T")

PATIENCE = 30.0  # seconds in which something has to happen, also on a busy machine


@dataclass(kw_only=True)
class SandboxScene(Scene):
    """A scene in the sandbox."""

    stage: Stage
    _running: AsyncExitStack = field(default_factory=AsyncExitStack)
    _client: ParleyClient = field(init=False)

    @property
    def client(self) -> ParleyClient:
        return self._client

    async def start(self) -> None:
        self._client = await self._running.enter_async_context(self.stage.running())

    async def stop(self) -> None:
        await self._running.aclose()

    async def restarts(self) -> None:
        await self.stop()
        await self.start()

    async def says(
        self, who: Someone, text: str, *, in_: Somewhere, reply_to: Said | None = None
    ) -> Said:
        target = self._message(reply_to) if reply_to is not None else None
        message = await self._person(who).says(text, in_=self._place(in_), reply_to=target)
        return _said(message)

    def dm(self, who: Someone) -> Somewhere:
        return _somewhere(self._person(who).dm(self.stage.bot))

    async def clicks(self, who: Someone, card: Said, button: str) -> Told:
        return _told(await self._person(who).clicks(self._message(card), button))

    async def double_clicks(self, who: Someone, card: Said, button: str) -> Sequence[Told]:
        person, message = self._person(who), self._message(card)
        clicks = (person.clicks(message, button), person.clicks(message, button))
        return [_told(each) for each in await asyncio.gather(*clicks)]

    async def runs(self, who: Someone, command: str, *, in_: Somewhere, **options: str) -> Told:
        return _told(await self._person(who).runs(command, in_=self._place(in_), **options))

    async def completes(
        self, who: Someone, command: str, *, in_: Somewhere, option: str, typed: str = ""
    ) -> Sequence[tuple[str, str]]:
        found = await self._person(who).completes(
            command, in_=self._place(in_), option=option, typed=typed
        )
        return [(name, str(value)) for name, value in found]

    def messages(self, where: Somewhere) -> Sequence[Said]:
        return [_said(each) for each in self._place(where).messages]

    def threads(self, where: Somewhere) -> Sequence[Somewhere]:
        place = self._place(where)
        assert isinstance(place, sandbox.Channel)
        return [_somewhere(each) for each in place.threads]

    async def until(self, look: Callable[[], T | None]) -> T:
        places = self.stage.world.places
        return await self.stage.world.pulse.until(
            look, PATIENCE, lambda: "\n".join(each.dump() for each in places.values())
        )

    @property
    def pinged(self) -> Sequence[str]:
        own = (each for each in self.stage.world.pings if each.message.author is self.stage.bot)
        return [str(each.who) for each in own]

    @property
    def unknown_routes(self) -> Sequence[str]:
        return self.stage.world.unknown_routes

    def _person(self, who: Someone) -> sandbox.Person:
        person = self.stage.world.users[who.id]
        assert isinstance(person, sandbox.Person)
        return person

    def _place(self, where: Somewhere) -> sandbox.Place:
        return self.stage.world.places[where.id]

    def _message(self, said: Said) -> sandbox.Message:
        message = self._place(said.where).find(said.id)
        assert message is not None
        return message


def _someone(user: sandbox.User) -> Someone:
    return Someone(user.id, user.name)


def _somewhere(place: sandbox.Place) -> Somewhere:
    return Somewhere(place.id, place.name)


def _said(message: sandbox.Message) -> Said:
    return Said(
        id=message.id,
        where=_somewhere(message.place),
        author=message.author.id,
        text=message.content,
        buttons=[str(each.get("label")) for each in message.buttons],
        reply_to=message.reference.message_id if message.reference else None,
    )


def _told(answer: sandbox.Answer) -> Told:
    assert not answer.failed, "the bot did not acknowledge it"
    own = next(iter(answer.messages), None)
    return Told(own.content, own.ephemeral) if own is not None else Told("", private=True)


@asynccontextmanager
async def sandbox_scene(database: Path) -> AsyncIterator[Scene]:
    """Open the scene in the sandbox, with the bot running, while the block lasts."""
    world, model = World(ack_timeout=PATIENCE), ScriptedModel()
    guild, bot = world.guild("Home"), world.bot("Parley")
    owner, alice, bob, mod = (world.person(name) for name in ("owner", "alice", "bob", "mod"))
    rights = {"CREATE_PUBLIC_THREADS", "SEND_MESSAGES_IN_THREADS", "MENTION_EVERYONE"}
    guild.join(bot, permissions=rights)
    guild.join(owner)
    guild.join(alice)
    guild.join(bob)
    guild.join(mod, permissions={"MANAGE_GUILD"})
    general, desk = guild.channel("general"), guild.channel("desk")
    no_threads = Overwrite.of(deny=["CREATE_PUBLIC_THREADS"])
    shut = guild.channel("shut", overwrites={guild.everyone: no_threads})
    async with serve(world) as server, serve_model(model) as service:
        stage = Stage(
            world=world,
            sandbox=server,
            model=model,
            service=service,
            database=database,
            guild=guild,
            general=general,
            desk=desk,
            bot=bot,
            alice=alice,
            bob=bob,
            mod=mod,
            tools=Tools(),
            options=FrontendOptions(
                api_base=server.api_base,
                channel_ids=frozenset({desk.id}),
                owner_ids=frozenset({owner.id}),
                drain_seconds=0.0,
                guilds_within=0.05,
            ),
        )
        scene = SandboxScene(
            stage=stage,
            model=model,
            tools=stage.tools,
            bot=_someone(bot),
            owner=_someone(owner),
            alice=_someone(alice),
            bob=_someone(bob),
            mod=_someone(mod),
            general=_somewhere(general),
            desk=_somewhere(desk),
            shut=_somewhere(shut),
        )
        try:
            await scene.start()
            yield scene
        finally:
            await scene.stop()
