"""SimCord as a world: the real client in one process with a Discord that nobody here wrote.

SimCord replaces discord.py's transports, so no socket to Discord is involved; those to the model
and to the database are real, and so is the time they take. That goes together without help. After
everything a person does SimCord waits until every task of the bot has ended or sleeps for long;
one that waits for an answer of the model's server does neither, and so is waited for. Its clock
stands still but for the bot's timers, which are due in real time too.

What does not go is to act while the bot is held up in the middle of an answer.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import discord
import simcord
from simcord import interactions, parity
from simcord.backend import serializers
from simcord.enums import InteractionType
from simcord.http.router import RequestContext, route

from bot.frontend import FrontendOptions, ParleyClient
from bot.sandbox.model import ScriptedModel, serve_model
from bot.sessions import SQLiteSessionManager
from tests.e2e.stage import Tools, parley
from tests.worlds.scene import Said, Scene, Someone, Somewhere, Told

T = TypeVar("T")

# SimCord says in the channel, as the bot, that a thread was opened on any message. Discord does so
# only for an old one (reference, topic "Threads"); Discord itself says it, so nobody looks at it.
SPOKEN = {discord.MessageType.default, discord.MessageType.reply}


@route("GET", "/gateway/bot")
def _gateway(context: RequestContext) -> dict[str, Any]:
    """Say how to connect: SimCord has no sockets, and so no such route."""
    limit = {"total": 1000, "remaining": 1000, "reset_after": 0, "max_concurrency": 1}
    return {"url": "wss://gateway.discord.gg", "shards": 1, "session_start_limit": limit}


@dataclass(kw_only=True)
class SimulatedScene(Scene):
    """A scene in SimCord."""

    env: simcord.Env
    guild: simcord.GuildHandle
    members: dict[int, simcord.MemberActor]
    make_client: Callable[[], ParleyClient]
    running: ParleyClient

    @property
    def client(self) -> ParleyClient:
        return self.running

    async def stop(self) -> None:
        await self.running.close()
        await self.running.agent.close()

    async def restarts(self) -> None:
        await self.stop()
        self.running = self.make_client()
        await _apart(self.env.restart_bot(self.running))

    async def says(
        self, who: Someone, text: str, *, in_: Somewhere, reply_to: Said | None = None
    ) -> Said:
        member, target = self.members[who.id], self._message(reply_to) if reply_to else None
        if self._is_dm(in_):
            assert target is None, "SimCord lets nobody reply in a DM"
            return _said(await member.user.send_dm(text), in_)
        return _said(await member.send(self._channel(in_), text, reply_to=target), in_)

    def dm(self, who: Someone) -> Somewhere:
        return Somewhere(self.members[who.id].user.dm_channel.id, f"DM of {who.name}")

    async def clicks(self, who: Someone, card: Said, button: str) -> Told:
        actor = self._actor(who, card.where)
        return _told(await actor.click(self._message(card), label=button))

    async def double_clicks(self, who: Someone, card: Said, button: str) -> Sequence[Told]:
        # A click of SimCord's own ends when the bot has done all there is to do, and by then the
        # buttons are gone. So two clicks at once are made here of what its click is made of.
        assert not self._is_dm(card.where), "written for servers only"
        backend = self.env.backend
        stored = backend.get_message(card.where.id, card.id)
        [pressed] = (each for each in _buttons(self._message(card)) if each.label == button)
        records = []
        for _ in range(2):
            record, payload = interactions.base_payload(
                backend,
                type=InteractionType.MESSAGE_COMPONENT,
                channel_id=card.where.id,
                guild_id=self.guild.id,
                user_id=who.id,
                data={"custom_id": pressed.custom_id, "component_type": 2},
            )
            record.source_message_id = card.id
            payload["message"] = dict(serializers.message_payload(backend, stored))
            records.append(record)
            backend.emit("INTERACTION_CREATE", payload)
        await self.env.settle()
        return [_told(simcord.InteractionResult(self.env, each)) for each in records]

    async def runs(self, who: Someone, command: str, *, in_: Somewhere, **options: str) -> Told:
        member, name = self.members[who.id], command.removeprefix("/")
        if self._is_dm(in_):
            return _told(await member.user.slash(name, **options))
        return _told(await member.slash(self._channel(in_), name, **options))

    async def completes(
        self, who: Someone, command: str, *, in_: Somewhere, option: str, typed: str = ""
    ) -> Sequence[tuple[str, str]]:
        member, name = self.members[who.id], command.removeprefix("/")
        if self._is_dm(in_):
            choices = await member.user.autocomplete(name, option, typed)
        else:
            choices = await member.autocomplete(self._channel(in_), name, option, typed)
        return [(each["name"], str(each["value"])) for each in choices]

    def messages(self, where: Somewhere) -> Sequence[Said]:
        return [_said(each, where) for each in self._history(where)]

    def threads(self, where: Somewhere) -> Sequence[Somewhere]:
        return [Somewhere(each.id, each.name or "") for each in self._channel(where).threads]

    async def until(self, look: Callable[[], T | None]) -> T:
        found = look()
        if found is None:
            await self.env.settle()
            found = look()
        if found is None:  # nothing moves any more
            raise TimeoutError(self.env.transcript())
        return found

    @property
    def pinged(self) -> Sequence[str]:
        # SimCord's messages name in `mentions` whoever their text mentions. Discord's name only
        # who is notified (discord/discord-api-docs, issue 2126), which SimCord knows apart.
        every = (each for place in self.env.backend.messages.values() for each in place.values())
        own = [each for each in every if each.author_id == self.bot.id and not each.is_ephemeral]
        ids = (str(who) for each in own for who in (*each.ping_user_ids, *each.ping_role_ids))
        return [*ids, *("@everyone" for each in own if each.mention_everyone)]

    @property
    def unknown_routes(self) -> Sequence[str]:
        known = [
            (method, re.compile(re.sub(r"\{[^}]+\}", "[^/]+", path)))
            for method, path in parity.implemented_routes()
        ]
        return [
            f"{asked.method} {asked.path}"
            for asked in self.env.http_requests
            if not any(
                method == asked.method and path.fullmatch(asked.path) for method, path in known
            )
        ]

    def _is_dm(self, where: Somewhere) -> bool:
        return where.id in self.env.backend.dm_channels.values()

    def _channel(self, where: Somewhere) -> simcord.ChannelHandle:
        channels = list(self.guild.channels.values())
        threads = [thread for channel in channels for thread in channel.threads]
        return next(each for each in (*channels, *threads) if each.id == where.id)

    def _actor(self, who: Someone, where: Somewhere) -> simcord.MemberActor | simcord.UserHandle:
        member = self.members[who.id]
        return member.user if self._is_dm(where) else member

    def _history(self, where: Somewhere) -> Iterator[discord.Message]:
        if self._is_dm(where):
            persons = (member.user for member in self.members.values())
            place = next(each.dm_channel for each in persons if each.dm_channel.id == where.id)
        else:
            place = self._channel(where)
        # without a viewer nothing private is among it
        return (each for each in place.history() if each.type in SPOKEN)

    def _message(self, said: Said) -> discord.Message:
        return next(each for each in self._history(said.where) if each.id == said.id)


def _buttons(message: discord.Message) -> Iterator[discord.Button]:
    rows = (row for row in message.components if isinstance(row, discord.ActionRow))
    return (each for row in rows for each in row.children if isinstance(each, discord.Button))


def _said(message: discord.Message, where: Somewhere) -> Said:
    return Said(
        id=message.id,
        where=where,
        author=message.author.id,
        text=message.content,
        buttons=[each.label or "" for each in _buttons(message)],
        reply_to=message.reference.message_id if message.reference else None,
    )


def _told(result: simcord.InteractionResult) -> Told:
    assert result.acknowledged, "the bot did not acknowledge it"
    own = [each for each in (result.response, *result.followups) if each is not None]
    # the message that was clicked stands for the answer where only an update was deferred
    said = next((each for each in own if each.message.interaction_metadata is not None), None)
    return Told(said.content, said.ephemeral) if said is not None else Told("", private=True)


@asynccontextmanager
async def simulated_scene(database: Path) -> AsyncIterator[Scene]:
    """Open the scene in SimCord, with the bot running, while the block lasts."""
    model, tools = ScriptedModel(), Tools()
    # The world comes first, because the bot's options name its ids.
    env = simcord.Env(discord.AutoShardedClient(intents=discord.Intents.default(), shard_count=1))
    guild = env.create_guild("Home")
    moderators = guild.create_role("mods", permissions=discord.Permissions(manage_guild=True))
    owner, alice, bob = (guild.add_member(env.create_user(n)) for n in ("owner", "alice", "bob"))
    mod = guild.add_member(env.create_user("mod"), roles=[moderators])
    general, desk = guild.create_text_channel("general"), guild.create_text_channel("desk")
    no_threads = discord.PermissionOverwrite(create_public_threads=False)
    shut = guild.create_text_channel("shut", overwrites={guild.default_role: no_threads})
    options = FrontendOptions(
        channel_ids=frozenset({desk.id}),
        owner_ids=frozenset({owner.id}),
        drain_seconds=0.0,
    )
    async with serve_model(model) as service:

        def make_client() -> ParleyClient:
            client = parley(
                store=SQLiteSessionManager(database),
                model_url=service.base_url,
                tools=tools,
                options=options,
            )
            client.shard_count = 1
            return client

        env.bot = client = make_client()
        scene = SimulatedScene(
            env=env,
            guild=guild,
            members={each.id: each for each in (owner, alice, bob, mod)},
            make_client=make_client,
            running=client,
            model=model,
            tools=tools,
            bot=Someone(env.backend.bot_user.id, env.backend.bot_user.name),
            owner=_someone(owner),
            alice=_someone(alice),
            bob=_someone(bob),
            mod=_someone(mod),
            general=_somewhere(general),
            desk=_somewhere(desk),
            shut=_somewhere(shut),
        )
        try:
            await _apart(env.start())
            yield scene
            env.raise_errors()
        finally:
            try:
                await scene.stop()
            finally:
                await _apart(env.shutdown())


async def _apart(work: Coroutine[Any, Any, None]) -> None:
    """Do something in a task of its own.

    SimCord sets discord.py's adapter for answers to interactions in the context in which it starts
    a bot. pytest-asyncio hands a fixture's context on to the test, and after a failure to the
    tests that follow, whose bots would then answer into a SimCord that is gone.
    """
    await asyncio.create_task(work)


def _someone(member: simcord.MemberActor) -> Someone:
    return Someone(member.id, member.name)


def _somewhere(channel: simcord.ChannelHandle) -> Somewhere:
    return Somewhere(channel.id, channel.name or "")
