"""One conversation, played through a bot that is stopped, and killed, on the way."""

from __future__ import annotations

import signal
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from bot import sandbox
from bot.playground.seen import Seen
from bot.playground.stage import BotProcess, Stage, make_stage
from bot.sandbox import Message, Place, Sandbox, Thread
from bot.sandbox.model import Behaviour, DemoModel, serve_model

PATIENCE = 10.0
"""Seconds in which what a step is about has to be seen."""
STARTING = 60.0
"""Seconds in which the bot's process has to be in Discord."""
ANNOUNCEMENT = "Dinner is ready"


class Missed(Exception):
    """Something should have been seen and was not; the text says what."""


async def play_demo(model: Behaviour | None = None, *, patience: float = PATIENCE) -> int:
    """Play the conversation and print what people see; return 0 only if all of it happened."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="parley-")))
        stage = make_stage()
        running = await stack.enter_async_context(sandbox.serve(stage.world))
        service = await stack.enter_async_context(serve_model(model or DemoModel()))
        values = stage.settings(running, folder)
        values |= {"OPENAI_BASE_URL": service.base_url, "OPENAI_MODEL": "scripted"}
        log = stack.enter_context((folder / "bot.log").open("wb"))
        bot = BotProcess(values, log=log.fileno())
        stack.push_async_callback(bot.stop, signal.SIGKILL)
        seen = Seen(stage.world)
        try:
            await Demo(stage, running, bot, seen, patience).play()
        except (Missed, TimeoutError, LookupError, PermissionError) as exc:
            seen.note(f"This did not happen: {exc}")
            seen.note((folder / "bot.log").read_text(errors="replace"))
            return 1
    seen.note("All of it happened.")
    return 0


class Demo:
    """The conversation, step by step; each step says what it expects to see."""

    def __init__(
        self, stage: Stage, running: Sandbox, bot: BotProcess, seen: Seen, patience: float
    ) -> None:
        self._stage = stage
        self._sandbox = running
        self._bot = bot
        self._seen = seen
        self._patience = patience

    async def play(self) -> None:
        """Play all steps.

        Raises:
            Missed: if something does not happen; so do TimeoutError, LookupError, PermissionError.
        """
        self._seen.note("A conversation with Parley. Its answers are scripted, by no AI model.")
        await self._start()
        thread = await self._introduction()
        await self._growing_answer(thread)
        await self._restart(signal.SIGTERM)
        await self._memory(thread)
        card = await self._gated_call(thread)
        await self._restart(signal.SIGKILL)
        await self._stranger(card)
        await self._approval(thread, card)
        await self._reset(thread)

    # -- the steps ---------------------------------------------------------------------------------

    async def _introduction(self) -> Thread:
        text = f"{self._stage.bot.mention} my name is Alice"
        opening = await self._says(text, self._stage.general)
        await opening.until(lambda message: message.thread is not None, self._patience)
        thread = opening.thread
        if thread is None:
            raise Missed("no thread was opened on the first message")
        await self._answer(thread, opening, "Nice to meet you, Alice")
        return thread

    async def _growing_answer(self, thread: Thread) -> None:
        question = await self._says("help", thread)
        answer = await self._message(thread, question)
        while not _is_final(answer):
            self._seen.writing(answer)
            before = answer.revision
            await answer.until(lambda message: message.revision > before, self._patience)  # noqa: B023
        self._seen.message(answer)
        lengths = [len(content) for _, content in answer.edits]
        _expect(len(lengths) > 1, "the answer did not grow before people's eyes")
        _expect(lengths == sorted(lengths), f"the answer shrank while it was written: {lengths}")
        _expect("roll 2d6" in answer.content, "the answer is not complete")

    async def _memory(self, thread: Thread) -> None:
        question = await self._says("what's my name?", thread)
        await self._answer(thread, question, "You are Alice.")

    async def _gated_call(self, thread: Thread) -> Message:
        question = await self._says(f"announce {ANNOUNCEMENT} in #announcements", thread)
        card = await self._message(thread, question, button="Approve")
        _expect(ANNOUNCEMENT in card.content, "the card does not show the announcement")
        self._seen.message(card)
        return card

    async def _stranger(self, card: Message) -> None:
        before = card.content
        self._seen.action(self._stage.bob, "clicks Approve", card.place)
        answer = await self._stage.bob.clicks(card, "Approve", self._patience)
        self._seen.answer(self._stage.bob, answer)
        _expect(answer.ephemeral, "the refusal was not private")
        _expect(card.content == before, "the card has changed")
        _expect(not self._stage.announcements.messages, "it was announced without a yes")

    async def _approval(self, thread: Thread, card: Message) -> None:
        self._seen.action(self._stage.mona, "clicks Approve", card.place)
        await self._stage.mona.clicks(card, "Approve", self._patience)
        await card.until(lambda message: "ended well" in message.content, self._patience)
        _expect(self._stage.mona.mention in card.content, "the card does not say who approved")
        self._seen.message(card)
        await self._answer(thread, card, "Posted in #announcements")
        posted = self._stage.announcements.messages
        _expect([each.content for each in posted] == [ANNOUNCEMENT], f"announced: {posted}")
        self._seen.message(posted[0])

    async def _reset(self, thread: Thread) -> None:
        wren = self._stage.wren
        self._seen.action(wren, "runs /reset", thread)
        self._seen.answer(wren, await wren.runs("/reset", in_=thread))
        question = await self._says("what's my name?", thread)
        answer = await self._answer(thread, question, "You have not told me your name.")
        _expect("Alice" not in answer.content, "the name is still known after a reset")

    # -- their parts -------------------------------------------------------------------------------

    async def _start(self) -> None:
        await self._bot.start()
        await self._sandbox.connected(self._stage.bot, STARTING)

    async def _restart(self, number: signal.Signals) -> None:
        status = await self._bot.stop(number)
        expected = 0 if number is signal.SIGTERM else -number
        _expect(status == expected, f"the bot ended with status {status} on {number.name}")
        await self._sandbox.disconnected(self._stage.bot, STARTING)
        await self._start()
        self._seen.note(f"(The bot's process was ended by {number.name}; a new one goes on.)")

    async def _says(self, text: str, place: Place) -> Message:
        message = await self._stage.wren.says(text, in_=place)
        self._seen.message(message)
        return message

    async def _answer(self, place: Place, after: Message, text: str) -> Message:
        """Return the bot's answer that says this, once it is complete."""
        answer = await self._message(place, after, text=text)
        await answer.until(_is_final, self._patience)
        self._seen.message(answer)
        return answer

    async def _message(
        self, place: Place, after: Message, *, text: str = "", button: str | None = None
    ) -> Message:
        """Return the bot's first message that comes after another and has this."""

        def matching(messages: list[Message]) -> list[Message]:
            return [
                each
                for each in messages
                if each.author is self._stage.bot
                and each.id > after.id
                and text in each.content
                and (button is None or button in _labels(each))
            ]

        return matching(
            await place.until(lambda messages: bool(matching(messages)), self._patience)
        )[0]


def _labels(message: Message) -> list[str]:
    return [str(button.get("label")) for button in message.buttons]


def _is_final(message: Message) -> bool:
    """Whether it is complete: one that is being written can be stopped."""
    return "Stop" not in _labels(message)


def _expect(truth: bool, otherwise: str) -> None:
    if not truth:
        raise Missed(otherwise)
