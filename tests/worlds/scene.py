"""What people do and see, in words that hold in every world."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bot.frontend import ParleyClient
from bot.sandbox.model import ScriptedModel
from tests.e2e.stage import Tools

T = TypeVar("T")


@dataclass(frozen=True)
class Someone:
    """A person, or the bot."""

    id: int
    name: str

    @property
    def mention(self) -> str:
        """The text that mentions this account."""
        return f"<@{self.id}>"


@dataclass(frozen=True)
class Somewhere:
    """A channel, a thread or a DM."""

    id: int
    name: str


@dataclass(frozen=True)
class Said:
    """A message as it was seen at one moment.

    Attributes:
        buttons: The labels of what can be clicked on it.
        reply_to: The id of the message that it replies to.
    """

    id: int
    where: Somewhere
    author: int
    text: str
    buttons: Sequence[str] = ()
    reply_to: int | None = None


@dataclass(frozen=True)
class Told:
    """What came back to whoever clicked or commanded; the text is empty if nothing did.

    Attributes:
        private: Whether nobody else sees it.
    """

    text: str
    private: bool


@dataclass(kw_only=True)
class Scene(ABC):
    """A little Discord with the bot in it, and a model that says what is written down.

    Nothing is written in `shut` but messages: the bot may not open threads there.

    Attributes:
        owner: The owner of the bot, without rights in the server.
        mod: Who has Manage Server; alice and bob have no such rights.
        general: A channel where the bot answers when it is mentioned.
        desk: A channel where it answers everything.
    """

    model: ScriptedModel
    tools: Tools
    bot: Someone
    owner: Someone
    alice: Someone
    bob: Someone
    mod: Someone
    general: Somewhere
    desk: Somewhere
    shut: Somewhere

    # -- what people do ----------------------------------------------------------------------------

    @abstractmethod
    async def says(
        self, who: Someone, text: str, *, in_: Somewhere, reply_to: Said | None = None
    ) -> Said:
        """Write a message."""

    async def mentions_bot(self, who: Someone, text: str, *, in_: Somewhere) -> Said:
        """Write a message that begins with a mention of the bot."""
        return await self.says(who, f"{self.bot.mention} {text}", in_=in_)

    async def replies(self, who: Someone, to: Said, text: str) -> Said:
        """Reply to a message."""
        return await self.says(who, text, in_=to.where, reply_to=to)

    @abstractmethod
    def dm(self, who: Someone) -> Somewhere:
        """Return somebody's DM with the bot."""

    @abstractmethod
    async def clicks(self, who: Someone, card: Said, button: str) -> Told:
        """Click a button."""

    @abstractmethod
    async def double_clicks(self, who: Someone, card: Said, button: str) -> Sequence[Told]:
        """Click a button twice before anything came of the first click."""

    @abstractmethod
    async def runs(self, who: Someone, command: str, *, in_: Somewhere, **options: str) -> Told:
        """Run a slash command."""

    @abstractmethod
    async def completes(
        self, who: Someone, command: str, *, in_: Somewhere, option: str, typed: str = ""
    ) -> Sequence[tuple[str, str]]:
        """Type into an option of a slash command; return the choices as (name, value)."""

    @abstractmethod
    async def restarts(self) -> None:
        """End the bot, and start a new one on the same database."""

    # -- what people see ---------------------------------------------------------------------------

    @abstractmethod
    def messages(self, where: Somewhere) -> Sequence[Said]:
        """Return what everybody there sees now, without what Discord itself says."""

    @abstractmethod
    def threads(self, where: Somewhere) -> Sequence[Somewhere]:
        """Return the threads of a channel; one that was opened on a message has its id."""

    @abstractmethod
    async def until(self, look: Callable[[], T | None]) -> T:
        """Look again whenever something happens, until there is something to see.

        Raises:
            TimeoutError: That is not going to be; the text tells what is there instead.
        """

    # -- what nobody there sees --------------------------------------------------------------------

    @property
    @abstractmethod
    def client(self) -> ParleyClient:
        """The bot as it runs now."""

    @property
    @abstractmethod
    def pinged(self) -> Sequence[str]:
        """Whom messages of the bot notified."""

    @property
    @abstractmethod
    def unknown_routes(self) -> Sequence[str]:
        """What the bot asked of Discord that this world does not have, as "METHOD /path"."""

    # -- waiting, and looking again ----------------------------------------------------------------

    async def sees(self, text: str, *, in_: Somewhere) -> Said:
        """Return the bot's first message with this text once it is there, and finished."""
        return await self.until(
            lambda: next((each for each in self._finished(in_) if text in each.text), None)
        )

    async def sees_on(self, message: Said, text: str) -> Said:
        """Return a message once it has this text."""

        def changed() -> Said | None:
            now = self.again(message)
            return now if text in now.text else None

        return await self.until(changed)

    async def sees_thread_on(self, message: Said) -> Somewhere:
        """Return the thread that was opened on a message, once it is there."""
        return await self.until(
            lambda: next((t for t in self.threads(message.where) if t.id == message.id), None)
        )

    def again(self, message: Said) -> Said:
        """Look at a message again."""
        return next(each for each in self.messages(message.where) if each.id == message.id)

    def said(self, where: Somewhere) -> Sequence[str]:
        """Return what the bot says somewhere."""
        return [each.text for each in self.messages(where) if each.author == self.bot.id]

    def _finished(self, where: Somewhere) -> Sequence[Said]:
        own = (each for each in self.messages(where) if each.author == self.bot.id)
        return [each for each in own if "Stop" not in each.buttons]

    # -- what the model was asked ------------------------------------------------------------------

    @property
    def asked(self) -> Sequence[Sequence[tuple[str, str]]]:
        """What the model was sent, as roles and texts, request by request."""
        return [
            [(each["role"], each["content"]) for each in request["messages"]]
            for request in self.model.requests
        ]
