"""What is to go wrong with gateway connections."""

from __future__ import annotations

from collections.abc import Iterator

from bot.sandbox.resources.dispatch import Hub
from bot.sandbox.resources.sessions import Line, Op
from bot.sandbox.resources.users import Bot


class LineFaults:
    """Troubles of the connections of a bot, all of its shards at once."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._refused: list[tuple[Bot, bool]] = []

    async def closes(self, bot: Bot, code: int) -> None:
        """Hang up with a code; 1000, 1001 and the fatal ones end the session."""
        for line in self._lines(bot):
            await line.close(code)

    def drops(self, bot: Bot) -> None:
        """Cut the connection without a close code (1006): the session can be resumed."""
        for line in self._lines(bot):
            line.drop()

    async def reconnects(self, bot: Bot) -> None:
        """Ask the bot to connect anew and resume."""
        for line in self._lines(bot):
            await line.say({"op": Op.RECONNECT})

    async def invalidates(self, bot: Bot, *, resumable: bool = False) -> None:
        """Tell the bot that its session is invalid, for good unless it is resumable."""
        lines = list(self._lines(bot))
        if not resumable:
            self.forgets(bot)
        for line in lines:
            await line.say({"op": Op.INVALID_SESSION, "d": resumable})

    def forgets(self, bot: Bot) -> None:
        """End the bot's sessions without a word: nothing comes, and none can be resumed."""
        for session in self._hub.sessions:
            if session.bot is bot:
                self._hub.end(session)

    def refuses_resume(self, bot: Bot, *, resumable: bool = False, times: int = 1) -> None:
        """Answer the bot's next resumes with an invalid session."""
        self._refused += [(bot, resumable)] * times

    def refused_resume(self, bot: Bot) -> bool | None:
        """Return how a resume is to be refused; None when it is not."""
        for place, (whose, resumable) in enumerate(self._refused):
            if whose is bot:
                del self._refused[place]
                return resumable
        return None

    def silences(self, bot: Bot, *, events_too: bool = True) -> None:
        """Make zombies of the bot's connections: open, but nothing is heard or acknowledged.

        Events go on coming only without ``events_too``; else they wait for a resume.
        """
        for line in self._lines(bot):
            line.fall_silent(events_too=events_too)

    def _lines(self, bot: Bot) -> Iterator[Line]:
        for session in self._hub.sessions:
            if session.bot is bot and session.line is not None:
                yield session.line
