"""What people do while a bot is killed: they go by what they see, and try again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from bot.sandbox import Answer, DirectChannel, Message, Person, Place
from tests.crash.judge import SUMMARISED, Asked, Fate, Kind, judge, kind_of, refers_to
from tests.crash.mind import Plan
from tests.crash.town import Town, until

AGAIN = 3.0  # seconds after which somebody tries again
ANSWERED = frozenset({Fate.ANSWERED})


@dataclass
class Scene:
    """One play in a place of its own, by people of its own.

    Attributes:
        or_else: What may become of every message, beside what it is meant for.
    """

    town: Town
    desk: Place
    alice: Person
    or_else: frozenset[Fate] = frozenset()
    asked: list[Asked] = field(default_factory=list)

    # -- what people do ----------------------------------------------------------------------------

    async def asks(
        self,
        plan: Plan,
        *,
        by: Person | None = None,
        in_: Place | None = None,
        fates: frozenset[Fate] = ANSWERED,
        ran: bool = True,
        calls: Iterable[str] = (),
        text: str = "",
        **more: Any,
    ) -> Asked:
        """Say something for which the model has a plan; `calls` are tools that it then calls."""
        token = self.town.token()
        if calls:
            named = tuple((tool, f"{token}.{number}") for number, tool in enumerate(calls))
            plan = Plan(**{**_fields(plan), "calls": named})
        self.town.mind.plans[token] = plan
        place = in_ or self.desk
        message = await (by or self.alice).says(f"{text}{token}, please", in_=place, **more)
        asked = Asked(
            token=token,
            plan=plan,
            message=message,
            place=place,
            fates=fates | self.or_else,
            ran=ran,
        )
        self.asked.append(asked)
        return asked

    async def asks_in_a_thread(self, plan: Plan) -> Asked:
        """Mention the bot in a channel, and follow it into the thread that it opens."""
        bot, general = self.town.bot, self.town.general
        asked = await self.asks(plan, in_=general, text=f"{bot.mention} ")
        await until(
            lambda: asked.message.thread is not None or self.given_up,
            f"no thread\n{general.dump()}",
        )
        if asked.message.thread is not None:
            self.asked[-1] = replace(asked, place=asked.message.thread)
        return self.asked[-1]

    async def decides(self, label: str, line: str, *, command: str = "") -> None:
        """Let the moderator decide about a line, by its card's button or by a command."""
        await self._insists(
            lambda: self._with(label, line),
            lambda card: (
                self.town.mod.runs(command, in_=card.place)
                if command
                else self.town.mod.clicks(card, label)
            ),
            done=lambda: self._decided(line),
        )

    async def stops(self, asked: Asked) -> None:
        """Let who asked press the stop button, whenever there is one, until it has stopped."""
        await self._insists(
            lambda: self._with("Stop", asked.token),
            lambda message: self.alice.clicks(message, "Stop"),
            done=lambda: any(each.content == "Stopped." for each in self._said(asked.place)),
        )

    async def warms_up(self) -> None:
        """Have something answered, so that the bot knows its places here."""
        asked = [await self.asks(Plan(), in_=place) for place in (self.desk, dm(self))]
        asked.append(await self.asks_in_a_thread(Plan()))
        for each in asked:
            await self.sees(f"End of {each.token}", in_=each.place)
        self.asked.clear()
        await self.town.quiet()

    async def is_away(self, meanwhile: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Let the bot be away while people do something."""
        await self.town.quiet()
        await self.town.kill(meanwhile)

    @property
    def given_up(self) -> bool:
        """Whether the bot says that something came too late."""
        if not self.asked:
            return False
        first = self.asked[0].message.id
        places = dict.fromkeys([*self.places, *(each.message.place for each in self.asked)])
        said = (each for place in places for each in self._said(place))
        return any(kind_of(each) is Kind.SKIPPED and each.id > first for each in said)

    async def resets(self) -> None:
        """Begin the conversation anew."""
        await self._insists(
            lambda: self.asked[-1].message,
            lambda message: self.alice.runs("/reset", in_=message.place),
            done=lambda: any("anew" in each.content for each in self._said(self.desk)),
        )

    async def compacts(self) -> None:
        """Have the conversation summarised."""
        await self._insists(
            lambda: self.asked[-1].message,
            lambda message: self.alice.runs("/compact", in_=message.place),
            done=lambda: any(SUMMARISED in each.content for each in self._said(self.desk)),
        )

    async def sees(self, text: str, *, in_: Place | None = None) -> None:
        """Wait until the bot has said something."""
        place = in_ or self.desk

        def found() -> Message | None:
            return next((each for each in self._said(place) if text in each.content), None)

        await until(lambda: found() is not None or self.given_up, f"{text!r}\n{place.dump()}")
        if found() is None:
            await self._seen(lambda: found() is not None, self.town.deaths)

    def is_answered(self, asked: Asked) -> bool:
        """Whether a message has its answer to the end, or was told that it has none."""
        end = f"End of {asked.token},"
        said = reversed(self._said(asked.place))
        return any(
            end in each.content
            or (kind_of(each) is Kind.FAILURE and refers_to(each, asked.message))
            for each in said
        )

    # -- how it ends -------------------------------------------------------------------------------

    @property
    def places(self) -> list[Place]:
        """Where something was asked."""
        return list(dict.fromkeys(each.place for each in self.asked))

    def wrong(self) -> list[str]:
        """Return what is wrong now."""
        lines = self.town.lines()
        return [each for p in self.places for each in judge(p, self.town.bot, self.asked, lines)]

    async def settles(self, within: float) -> list[str]:
        """Wait until all is well and stays so; return what is wrong at the end."""
        with suppress(TimeoutError):
            await until(lambda: self.town.is_up and not self.wrong(), "", within)
        await self.town.quiet()
        return self.wrong()

    def dump(self) -> str:
        """Return all places as people see them."""
        return "\n".join(each.dump() for each in self.places)

    # -- inside ------------------------------------------------------------------------------------

    async def _insists(
        self,
        find: Callable[[], Message | None],
        act: Callable[[Message], Coroutine[Any, Any, Answer]],
        *,
        done: Callable[[], bool],
    ) -> None:
        """Act on a message until it has worked; what was done to a dead bot is done again."""
        while not done():
            await until(lambda: done() or find() is not None or self.given_up, self.dump())
            if self.given_up:
                await self._seen(lambda: find() is not None, self.town.deaths)
                if find() is None:
                    return
            await self.town.up()
            message = find()
            if message is not None and not done():
                deaths = self.town.deaths
                await self._tried(act(message), deaths)
                await self._seen(done, deaths)

    async def _seen(self, done: Callable[[], bool], deaths: int) -> None:
        with suppress(TimeoutError):
            await until(lambda: done() or self.town.deaths > deaths, "", AGAIN)

    async def _tried(self, acting: Coroutine[Any, Any, Answer], deaths: int) -> None:
        """Wait for an answer, unless the bot dies of it."""
        task = asyncio.create_task(acting)
        dying = asyncio.create_task(until(lambda: self.town.deaths > deaths, ""))
        try:
            await asyncio.wait({task, dying}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            task.cancel()
            dying.cancel()
            await asyncio.wait({task, dying})
        with suppress(LookupError, TimeoutError, asyncio.CancelledError):
            task.result()

    def _with(self, label: str, word: str) -> Message | None:
        for place in self.places:
            for message in self._said(place):
                labels = [button.get("label") for button in message.buttons]
                if label in labels and word in message.content:
                    return message
        return None

    def _decided(self, line: str) -> bool:
        cards = [
            each
            for place in self.places
            for each in self._said(place)
            if f'"{line}"' in each.content
        ]
        return bool(cards) and not any(each.buttons for each in cards)

    def _said(self, place: Place) -> list[Message]:
        return [each for each in place.messages if each.author is self.town.bot]


def dm(scene: Scene) -> DirectChannel:
    """Return alice's direct messages with the bot."""
    return scene.alice.dm(scene.town.bot)


def _fields(plan: Plan) -> dict[str, Any]:
    return {name: getattr(plan, name) for name in plan.__dataclass_fields__}
