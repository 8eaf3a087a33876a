"""A log and what is seen of it, where Discord fails; in SimCord, which can be told to."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import discord
import simcord

from bot.agent import Agent
from bot.events import (
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    Author,
    RecordedEvent,
    ToolCall,
    UserMessageEvent,
    utc_now,
)
from bot.frontend import FrontendOptions, Operator, SettingsBook, Stores
from bot.frontend.showing.pacing import Pacing
from bot.frontend.wiring import Parts, wire
from bot.monitoring import Metrics
from bot.providers.provider import Provider
from bot.sessions import SQLiteSessionManager
from bot.sessions.stores.deliveries import DeliveryStore

SEND, EDIT = ("POST", "/channels/*/messages"), ("PATCH", "/channels/*/messages/*")
CALL = ToolCall(call_id="c1", tool="delete_file", arguments="{}")


class Desk:
    """A channel with a session of it, and the front end's parts between them."""

    def __init__(self, env: simcord.Env, client: discord.Client, path: Path) -> None:
        self.env = env
        guild = env.create_guild()
        self.channel = guild.create_text_channel("desk")
        self.alice = guild.add_member(env.create_user("alice"))
        self.session_id = f"channel-{self.channel.id}"
        self.store = SQLiteSessionManager(path)
        self.deliveries = DeliveryStore(self.store.database)
        self.agent = Agent(
            provider=Provider(base_url="http://127.0.0.1:9/v1", model="none", max_attempts=1),
            session_manager=self.store,
        )
        stores = Stores.beside(self.store)
        self.parts: Parts = wire(
            client,
            self.agent,
            stores=stores,
            options=FrontendOptions(),
            settings=SettingsBook(stores.settings, Operator()),
            pacing=Pacing(),
            metrics=Metrics(),
        )

    @property
    def said(self) -> list[str]:
        return [message.content for message in self.channel.history()]

    async def record(self, *events: RecordedEvent) -> Sequence[RecordedEvent]:
        session = await self.store.get_or_create(self.session_id)
        recorded = session.append(*events)
        await self.store.save(session)
        return recorded

    async def reconciles(self) -> int:
        """Show what is behind; return up to where it is settled then."""
        await self.parts.recovery.recover()
        await self.parts.showing.finish(5.0)
        return (await self.deliveries.progress(self.session_id)).seq

    def asked(self) -> UserMessageEvent:
        return UserMessageEvent(text="hi", author=Author(user_id=f"user-{self.alice.id}"))


@asynccontextmanager
async def a_desk(path: Path) -> AsyncIterator[Desk]:
    client = discord.AutoShardedClient(intents=discord.Intents.default())
    async with simcord.run(client, shard_count=1) as env:
        desk = Desk(env, client, path / "parley.db")
        try:
            yield desk
        finally:
            await desk.parts.work.cancel()
            await desk.parts.showing.cancel()
            await desk.agent.close()


async def test_what_is_recorded_is_shown_once(tmp_path: Path) -> None:
    async with a_desk(tmp_path) as desk:
        await desk.record(desk.asked(), AssistantMessageEvent(text="Hello."))
        assert [await desk.reconciles(), await desk.reconciles()] == [2, 2]
        assert desk.said == ["Hello."]


async def test_a_discord_that_fails_is_asked_again(tmp_path: Path) -> None:
    async with a_desk(tmp_path) as desk:
        await desk.record(desk.asked(), AssistantMessageEvent(text="Hello."))
        desk.env.inject_error(*SEND, status=503)
        assert await desk.reconciles() == 2
        assert desk.said == ["Hello."]


async def test_a_place_that_is_gone_needs_nothing_shown(tmp_path: Path) -> None:
    async with a_desk(tmp_path) as desk:
        await desk.record(desk.asked(), AssistantMessageEvent(text="Hello."))
        desk.env.inject_error(*SEND, status=404, code=10003)
        assert await desk.reconciles() == 2
        assert desk.said == []


async def test_what_was_refused_is_told_to_who_asked_and_shown_later(tmp_path: Path) -> None:
    async with a_desk(tmp_path) as desk:
        await desk.record(desk.asked(), AssistantMessageEvent(text="Hello."))
        desk.env.inject_error(
            "POST", f"/channels/{desk.channel.id}/messages", status=403, code=50013
        )
        assert await desk.reconciles() == 0
        assert "I cannot answer in" in desk.env.transcript()
        assert await desk.reconciles() == 2
        assert desk.said == ["Hello."]


async def test_where_nothing_can_be_told_it_is_logged(tmp_path: Path) -> None:
    async with a_desk(tmp_path) as desk:
        await desk.record(desk.asked(), AssistantMessageEvent(text="Hello."))
        desk.env.inject_error(*SEND, status=403, code=50007, times=2)
        assert await desk.reconciles() == 0
        assert desk.said == []


async def test_an_edit_that_is_refused_holds_up_nothing(tmp_path: Path) -> None:
    async with a_desk(tmp_path) as desk:
        await desk.record(
            desk.asked(),
            AssistantMessageEvent(text="", tool_calls=(CALL,)),
            ApprovalRequestedEvent(
                approval_id="a1",
                call_id="c1",
                tool="delete_file",
                arguments={},
                arguments_hash="",
                requested_by="user-1",
                expires_at=utc_now(),
            ),
        )
        desk.env.inject_error(*EDIT, status=400, code=30046, times=None)
        await desk.reconciles()  # the request has expired, and the model cannot be asked
        assert "**May I run" in desk.said[0]
        assert "cannot be reached" in desk.said[1]
        desk.env.backend.faults.clear()
        await desk.reconciles()
        assert "**Expired:**" in desk.said[0]


async def test_sessions_of_other_front_ends_are_left_alone(tmp_path: Path) -> None:
    async with a_desk(tmp_path) as desk:
        session = await desk.store.create("terminal")
        session.append(UserMessageEvent(text="hi"))
        await desk.store.save(session)
        await desk.reconciles()
        assert (await desk.deliveries.progress("terminal")).seq == 0
