"""Hard answers, each in a channel of its own, as the real bot shows them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bot import sandbox
from bot.ending import ending
from bot.errors import ParleyError
from bot.events import AssistantMessageEvent, UserMessageEvent
from bot.frontend.view.view import view
from bot.playground.exhibits import Exhibit, exhibits
from bot.playground.stage import BotProcess, Stage, make_stage
from bot.sandbox import Channel, Message, Sandbox
from bot.sandbox.model import Answer, Reply, serve_model
from bot.sandbox.model.conversation import Conversation
from bot.sessions import Session

PATIENCE = 60.0
"""Seconds in which the bot has to be there, and in which all has to be answered."""
ENDING = 30.0
"""Seconds after which a gallery that should end is ended."""
OPEN = """
{count} hard answers are shown by the real bot, each in a channel of its own. Open this address:

    {page}

Ctrl-C ends it.
"""


@dataclass(frozen=True, slots=True)
class Hung:
    """The gallery, with everything in its place."""

    stage: Stage
    running: Sandbox
    rooms: Sequence[tuple[Exhibit, Channel]]

    def answers(self, room: Channel) -> list[Message]:
        """Return what the bot said in a channel, as far as it is complete."""
        said = [each for each in room.messages if each.author is self.stage.bot]
        return [each for each in said if "Stop" not in {b.get("label") for b in each.buttons}]


class Reciter:
    """A model that knows the answers by heart."""

    def __init__(self, shown: Sequence[Exhibit]) -> None:
        self._texts = {each.question: each.text for each in shown}

    def reply(self, request: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        """Answer the last question."""
        text = self._texts.get(Conversation(request).text)
        return Answer("\n- ".join(("Say one of these:", *self._texts)) if text is None else text)


async def show_gallery(*, port: int, once: bool) -> int:
    """Show all answers on the page until it is stopped, or until all are there.

    Raises:
        ParleyError: if the port cannot be used, or an answer is not shown.
    """
    async with AsyncExitStack() as stack:
        stop = stack.enter_context(ending(ENDING)).asked
        hung = await stack.enter_async_context(gallery(port=port))
        for exhibit, room in hung.rooms:
            sizes = ", ".join(str(len(each.content)) for each in hung.answers(room))
            _say(f"#{exhibit.name}: {len(exhibit.text)} characters as {sizes}")
        if not once:
            _say(OPEN.format(count=len(hung.rooms), page=hung.running.page_url))
            await stop.wait()
    return 0


@asynccontextmanager
async def gallery(*, port: int = 0) -> AsyncIterator[Hung]:
    """Let the bot show all answers, and keep them on the page while the block lasts.

    Raises:
        ParleyError: if the port cannot be used, or an answer is not shown.
    """
    stage, shown = make_stage(), exhibits()
    guild = stage.world.guilds[0]
    rooms = [(each, guild.channel(each.name)) for each in shown]
    async with AsyncExitStack() as stack:
        try:
            page = sandbox.serve(stage.world, port=port)
            running = await stack.enter_async_context(page)
        except OSError as exc:
            raise ParleyError(f"port {port} cannot be used, choose another --port: {exc}") from exc
        model = await stack.enter_async_context(serve_model(Reciter(shown)))
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="parley-")))
        values = stage.settings(running, folder)
        values |= {"OPENAI_BASE_URL": model.base_url, "OPENAI_MODEL": "scripted"}
        values |= {"CHANNELS": ",".join(str(room.id) for _, room in rooms)}
        values |= {"TURNS_PER_MINUTE": str(2 * len(rooms))}
        log = stack.enter_context((folder / "bot.log").open("wb"))
        bot = BotProcess(values, log=log.fileno())
        stack.push_async_callback(bot.stop)
        hung = Hung(stage, running, rooms)
        try:
            await _hang(hung, bot)
        except* TimeoutError as exc:
            told = (folder / "bot.log").read_text(errors="replace")
            missing = f"not everything was shown: {exc.exceptions[0]}"
            raise ParleyError(f"{missing}\n{told}") from exc
        yield hung


async def _hang(hung: Hung, bot: BotProcess) -> None:
    await bot.start()
    await hung.running.connected(hung.stage.bot, PATIENCE)
    async with asyncio.TaskGroup() as asking:
        for exhibit, room in hung.rooms:
            asking.create_task(_ask(hung, exhibit, room))


async def _ask(hung: Hung, exhibit: Exhibit, room: Channel) -> None:
    expected = messages(exhibit.text)
    await hung.stage.wren.says(exhibit.question, in_=room)
    await room.until(lambda _: len(hung.answers(room)) >= expected, PATIENCE)


def messages(text: str) -> int:
    """Return how many messages an answer is shown as."""
    session = Session(session_id="gallery", user_id="wren")
    session.append(UserMessageEvent(text="Show me"), AssistantMessageEvent(text=text))
    return len(view(session.events).shown)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
