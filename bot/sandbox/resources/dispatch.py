"""Who is told of what."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources import payloads
from bot.sandbox.resources.sessions import Session
from bot.sandbox.resources.users import Bot, Intents, User

if TYPE_CHECKING:
    from bot.sandbox.resources.channels import Place, Thread
    from bot.sandbox.resources.guilds import Guild
    from bot.sandbox.resources.state import State

Payload = Callable[[Session], Json]
Deliver = Callable[[str, Bot, Callable[[], None]], None]


class Hub:
    """Brings each event to the sessions that may have it, also to those whose bot is away.

    Attributes:
        deliver: Sends an event of a name to a bot; faults stand here, who send it twice or late.
    """

    def __init__(self, world: State) -> None:
        self._world = world
        self._sessions: list[Session] = []
        self.deliver: Deliver = lambda event, bot, send: send()

    @property
    def sessions(self) -> list[Session]:
        """The sessions that are there or can be resumed."""
        oldest = self._world.clock.now() - timedelta(seconds=self._world.resume_window)
        self._sessions = [
            each for each in self._sessions if each.left_at is None or each.left_at >= oldest
        ]
        return list(self._sessions)

    def add(self, session: Session) -> None:
        """Tell a new session of what happens from now on."""
        self._sessions.append(session)

    def end(self, session: Session) -> None:
        """Forget a session: it cannot be resumed."""
        if session in self._sessions:
            self._sessions.remove(session)
        self._world.pulse.beat()

    def resumable(self, session_id: object, bot: Bot) -> Session | None:
        """Return the bot's session with this id, if it still is."""
        return next(
            (each for each in self.sessions if (each.id, each.bot) == (session_id, bot)), None
        )

    def in_place(
        self,
        place: Place,
        event: str,
        payload: Payload,
        intent: Intents,
        in_dm: Intents | None = None,
    ) -> None:
        """Tell those who see the place and asked for the intent."""
        needed = intent if place.guild is not None else in_dm
        for session in self._of(place.guild, needed):
            if place.seen_by(session.bot):
                self._tell(session, event, payload(session))
        self._world.pulse.beat()

    def in_guild(self, guild: Guild, event: str, payload: Payload, intent: Intents) -> None:
        """Tell the bots in the guild that asked for the intent."""
        for session in self._of(guild, intent):
            if session.bot.id in guild.members:
                self._tell(session, event, payload(session))
        self._world.pulse.beat()

    def to_bot(self, bot: Bot, event: str, payload: Payload, guild: Guild | None) -> None:
        """Tell one bot something that no intent filters."""
        for session in self._of(guild, Intents(0)):
            if session.bot is bot:
                self._tell(session, event, payload(session))
        self._world.pulse.beat()

    def thread_members(self, thread: Thread, whose: User, body: Json) -> None:
        """Tell of a membership: its owner, and those who asked for the members intent."""
        for session in self._of(thread.guild, Intents.GUILDS):
            knows = Intents.GUILD_MEMBERS in session.intents and thread.seen_by(session.bot)
            if session.bot is whose or knows:
                self._tell(session, "THREAD_MEMBERS_UPDATE", body)
        self._world.pulse.beat()

    def thread_changed(self, thread: Thread) -> None:
        """Tell that a thread has another name or state."""
        self.in_place(
            thread,
            "THREAD_UPDATE",
            lambda session: payloads.thread_for(thread, session.bot),
            Intents.GUILDS,
        )

    def of_member(self, guild: Guild, whose: User, event: str, body: Json) -> None:
        """Tell of a member: themselves in any case, and those who asked for the members intent."""
        for session in self._of(guild, Intents(0)):
            knows = Intents.GUILD_MEMBERS in session.intents and session.bot.id in guild.members
            if session.bot is whose or knows:
                self._tell(session, event, body)
        self._world.pulse.beat()

    def _tell(self, session: Session, event: str, body: Json) -> None:
        self.deliver(event, session.bot, lambda: session.dispatch(event, body))

    def _of(self, guild: Guild | None, needed: Intents | None) -> list[Session]:
        if needed is None:
            return []
        return [each for each in self.sessions if needed in each.intents and each.serves(guild)]
