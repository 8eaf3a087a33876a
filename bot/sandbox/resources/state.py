"""What everything in a world shares: its time, what there is in it, and who is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.resources.channels import DirectChannel
from bot.sandbox.resources.dispatch import Hub
from bot.sandbox.resources.nonces import Nonces
from bot.sandbox.resources.users import Bot, User
from bot.sandbox.timing.clock import Clock, SystemClock
from bot.sandbox.timing.ids import Snowflakes
from bot.sandbox.timing.pulse import PATIENCE, Pulse

if TYPE_CHECKING:
    from bot.sandbox.resources.channels import Place
    from bot.sandbox.resources.guilds import Guild
    from bot.sandbox.resources.interactions import Interaction
    from bot.sandbox.resources.messages import Attachment, Ping

ACK_TIMEOUT = 3.0  # seconds to acknowledge an interaction
# "The past few minutes", and not documented: so many seconds are a guess.
NONCE_WINDOW, RESUME_WINDOW = 180.0, 180.0


class State:
    """A world as the things in it know it; ``World`` is all of it.

    Attributes:
        ack_timeout: Seconds in which an interaction must be acknowledged.
        nonce_window: Seconds for which an enforced nonce stands for the message it posted.
        resume_window: Seconds for which the gateway session of an absent bot is kept.
        cdn: The address that attachments are served under; set by ``serve``.
        developer: Who owns every application.
        dms_closed: Persons who accept no DMs from bots.
        patience: Seconds that a person waits for more once an interaction was acknowledged.
        pings: Everyone who was notified, in order.
    """

    developer: User

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        ack_timeout: float = ACK_TIMEOUT,
        patience: float = PATIENCE,
        nonce_window: float = NONCE_WINDOW,
        resume_window: float = RESUME_WINDOW,
    ) -> None:
        self.clock: Clock = clock or SystemClock()
        self.ack_timeout, self.patience = ack_timeout, patience
        self.nonce_window, self.resume_window = nonce_window, resume_window
        self.ids = Snowflakes(self.clock)
        self.pulse = Pulse()
        self.hub = Hub(self)
        self.nonces = Nonces(self)
        self.cdn = "http://127.0.0.1"
        self.guilds: list[Guild] = []
        self.users: dict[int, User] = {}
        self.places: dict[int, Place] = {}
        self.files: dict[int, Attachment] = {}
        self.interactions: dict[str, Interaction] = {}
        self.dms_closed: set[User] = set()
        self.pings: list[Ping] = []

    @property
    def bots(self) -> list[Bot]:
        """Every application."""
        return [each for each in self.users.values() if isinstance(each, Bot)]

    def direct(self, person: User, bot: Bot) -> DirectChannel:
        """Return the one DM channel of a person and a bot, made when first wanted."""
        for place in self.places.values():
            if isinstance(place, DirectChannel) and (place.person, place.bot) == (person, bot):
                return place
        place = DirectChannel(person, bot)
        self.places[place.id] = place
        return place
