"""A world on loopback, a scripted model and the real bot between them, on one database file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import discord
import pytest

from bot.agent import Agent, Tool, tool
from bot.agent.policy.file import parse_policy
from bot.events import RecordedEvent, utc_now
from bot.frontend import (
    FrontendOptions,
    Operator,
    ParleyClient,
    ServerPolicy,
    ServerProfiles,
    SettingsBook,
    Stores,
    make_meter,
    may_decide,
)
from bot.frontend.tools import discord_tools, stored_tools
from bot.providers.provider import Provider
from bot.providers.retry import RetryPolicy
from bot.sandbox import (
    Bot,
    Channel,
    Guild,
    ManualClock,
    Message,
    Person,
    Place,
    Sandbox,
    Thread,
    World,
)
from bot.sandbox.model import ModelServer, ScriptedModel
from bot.sessions import SQLiteSessionManager, SQLSessionManager
from tests.sandbox.clients import silent
from tests.setups import labels

PATIENCE = 30.0  # seconds; only a scenario that fails takes them


async def logged(caplog: pytest.LogCaptureFixture, text: str, times: int = 1) -> None:
    """Return once the bot has logged a text so often."""
    async with asyncio.timeout(PATIENCE):
        while caplog.text.count(text) < times:  # noqa: ASYNC110 - a log tells nobody
            await asyncio.sleep(0.01)


def is_written(message: Message) -> bool:
    """Return whether a message is still being written."""
    return any(button.get("label") == "Stop" for button in message.buttons)


@dataclass
class Tools:
    """The tools of the tests, with those that a scenario adds, and a note of what they did."""

    more: Sequence[Tool] = ()
    done: list[str] = field(default_factory=list)
    may_finish: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def all(self) -> Sequence[Tool]:
        @tool(approval=True)
        async def delete_file(path: str) -> str:
            """Delete a file."""
            self.done.append(f"deleted {path}")
            return f"{path} is gone"

        @tool
        async def read_clock() -> str:
            """Read the clock."""
            self.done.append("read the clock")
            return "noon"

        @tool(approval=True)
        async def long_job(name: str) -> str:
            """Do something that takes its time."""
            self.begun.set()
            await self.may_finish.wait()
            self.done.append(f"did {name}")
            return "done"

        @tool
        async def slow_job() -> str:
            """Do something that takes its time, and ask nobody."""
            await self.may_finish.wait()
            return "done"

        return delete_file, read_clock, long_job, slow_job, *self.more


def parley(
    *,
    store: SQLSessionManager,
    model_url: str,
    tools: Tools,
    options: FrontendOptions,
    operator: Operator | None = None,
    clock: Callable[[], datetime] = utc_now,
    policy: str = "",
    off: Collection[str] = (),
    **limits: Any,
) -> ParleyClient:
    """Make the real client over a store; `limits` are further ones of its agent."""
    stores = Stores.beside(store)
    book = SettingsBook(stores.settings, operator or Operator(options=options))
    provider = Provider(
        base_url=model_url,
        model="scripted",
        retry=RetryPolicy(max_attempts=1),
    )

    rules = ServerPolicy(
        homes=stores.homes,
        changes=stores.policies,
        file=parse_policy(policy, name="POLICY_FILE"),
        off=off,
    )

    def make_agent(client: discord.Client) -> Agent:
        return Agent(
            provider=provider,
            session_manager=store,
            tools=[
                *tools.all,
                *discord_tools(client).values(),
                *stored_tools(stores, options.clock).values(),
            ],
            may_decide=lambda request, actor: may_decide(options, actor),
            profiles=ServerProfiles(homes=stores.homes, book=book),
            system_prompt=operator.prompt if operator else "",
            meter=make_meter(
                stores,
                options,
                lambda *who: made.people.actor_of(*who),
                clock,
                settings=book,
            ),
            policy=rules,
            **limits,
        )

    made = ParleyClient(
        make_agent=make_agent, stores=stores, options=options, settings=book, policy=rules
    )
    return made


@dataclass(kw_only=True)
class Stage:
    """Everything a scenario plays with.

    Attributes:
        policy: The operator's policy file.
        off: Tools that are off until they are enabled.
        general: A channel where the bot answers when it is mentioned.
        desk: A channel where it answers everything.
        store: That of the bot that runs, or ran last.
        operator: What servers may set; by default nothing of the model.
    """

    store: SQLiteSessionManager = field(init=False)

    world: World
    sandbox: Sandbox
    model: ScriptedModel
    service: ModelServer
    database: Path
    guild: Guild
    general: Channel
    desk: Channel
    bot: Bot
    alice: Person
    bob: Person
    mod: Person
    tools: Tools
    options: FrontendOptions
    policy: str = ""
    off: Collection[str] = ()
    approval_ttl: timedelta = timedelta(hours=1)
    max_model_calls: int = 100
    context_window: int = 0
    operator: Operator | None = None

    @property
    def clock(self) -> ManualClock:
        """Discord's clock."""
        assert isinstance(self.world.clock, ManualClock)
        return self.world.clock

    def desks(self, many: int) -> list[Channel]:
        """Make so many more channels where the bot answers everything."""
        made = [self.guild.channel(f"desk-{number}") for number in range(many)]
        ids = self.options.channel_ids | {each.id for each in made}
        self.options = replace(self.options, channel_ids=ids)
        return made

    @asynccontextmanager
    async def running(self, **options: Any) -> AsyncIterator[ParleyClient]:
        """Run the bot while the block lasts; what it has open then is left as a kill leaves it."""
        async with AsyncExitStack() as stack:
            client = self._client(replace(self.options, **options))
            stack.push_async_callback(client.agent.close)
            await stack.enter_async_context(client)
            task = asyncio.create_task(client.start(self.bot.token))
            stack.push_async_callback(self._ended, client, task)
            ready = asyncio.create_task(client.wait_until_ready())
            await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                ready.cancel()
            else:
                yield client

    @staticmethod
    async def kill(client: ParleyClient) -> None:
        """End everything that the bot is doing, wherever it is; nothing is finished."""
        client.agent.suspend()
        parts = client._parts
        parts.expiry.close()
        parts.reminders.close()
        await asyncio.gather(parts.showing.cancel(), parts.work.cancel())

    @property
    def written(self) -> int:
        """How many messages were sent or edited by the bot."""
        requests = self.world.requests
        return sum(
            each.method in {"POST", "PATCH"} and "/messages" in each.path for each in requests
        )

    @staticmethod
    async def _ended(client: ParleyClient, task: asyncio.Task[None]) -> None:
        await client.close()
        await task
        await silent()

    def _client(self, options: FrontendOptions) -> ParleyClient:
        self.store = SQLiteSessionManager(self.database)
        return parley(
            store=self.store,
            model_url=self.service.base_url,
            tools=self.tools,
            options=options,
            operator=replace(self.operator, options=options) if self.operator else None,
            clock=self.world.clock.now,
            policy=self.policy,
            off=self.off,
            approval_ttl=self.approval_ttl,
            max_model_calls=self.max_model_calls,
            context_window=self.context_window,
        )

    # -- what scenarios say ------------------------------------------------------------------------

    @property
    def asked(self) -> list[list[tuple[str, str]]]:
        """What the model was sent, as roles and texts, request by request."""
        return [
            [(each["role"], each["content"]) for each in request["messages"]]
            for request in self.model.requests
        ]

    async def log_of(self, session_id: str) -> Sequence[RecordedEvent]:
        """Return the whole log of a session."""
        store = SQLiteSessionManager(self.database)
        try:
            return await store.read_log(session_id)
        finally:
            await store.close()

    async def thread_on(self, message: Message) -> Thread:
        """Return the thread that was opened on a message, once it is there."""

        def opened(found: Message) -> bool:
            return found.thread is not None

        found = await message.until(opened, PATIENCE)
        assert found.thread is not None
        return found.thread

    async def says(self, place: Place, text: str) -> Message:
        """Return the bot's first message with this text in a place, once it is there."""

        def said(messages: list[Message]) -> bool:
            return any(self._is(each, text) for each in messages)

        messages = await place.until(said, PATIENCE)
        return next(each for each in messages if self._is(each, text))

    def _is(self, message: Message, text: str) -> bool:
        final = "Stop" not in labels(message)
        return message.author is self.bot and text in message.content and final

    def said(self, place: Place) -> list[str]:
        """Return what the bot says in a place now."""
        return [each.content for each in place.messages if each.author is self.bot]
