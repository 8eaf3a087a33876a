"""The whole of a little Discord, as one plain object that tests and people drive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.sandbox.channels import DirectChannel
from bot.sandbox.clock import Clock, SystemClock
from bot.sandbox.dispatch import Hub
from bot.sandbox.faults import Faults
from bot.sandbox.guilds import Guild
from bot.sandbox.ids import Snowflakes
from bot.sandbox.limits import NO_LIMITS, Limits
from bot.sandbox.nonces import Nonces
from bot.sandbox.overwrites import give_back, take_away
from bot.sandbox.people import Person
from bot.sandbox.pulse import Pulse
from bot.sandbox.traffic import Traffic
from bot.sandbox.users import PRIVILEGED, Bot, User
from bot.sandbox.webhooks import Webhook

if TYPE_CHECKING:
    from bot.sandbox.channels import Channel, Place, Thread
    from bot.sandbox.interactions import Interaction
    from bot.sandbox.messages import Attachment, Ping

EVERY_PRIVILEGED = [str(each.name) for each in PRIVILEGED]
ACK_TIMEOUT = 3.0  # seconds to acknowledge an interaction
HEARTBEAT_INTERVAL = 41.25
# "The past few minutes", and not documented: so many seconds are a guess.
NONCE_WINDOW, RESUME_WINDOW = 180.0, 180.0


@dataclass(frozen=True)
class LoggedRequest:
    """A REST request; its status is 0 when the connection was cut in the place of an answer.

    Attributes:
        limits: The headers of the answer that tell of rate limits.
    """

    method: str
    path: str
    status: int
    seconds: float
    limits: Mapping[str, str] = field(default_factory=dict)


class World:
    """Guilds, accounts, messages; what was asked of it and who was pinged.

    Attributes:
        ack_timeout: Seconds in which an interaction must be acknowledged.
        faults: What is to go wrong.
        heartbeat_interval: Seconds between heartbeats, as clients are told.
        limits: How often a bot may do what; by default as often as it likes.
        nonce_window: Seconds for which an enforced nonce stands for the message it posted.
        resume_window: Seconds for which the gateway session of an absent bot is kept.
        traffic: Requests counted.
        cdn: The address that attachments are served under; set by ``serve``.
        gateway_url: The address of the gateway; set by ``serve``.
        dms_closed: Persons who accept no DMs from bots.
        patience: Seconds that a person waits for more once an interaction was acknowledged.
        pings: Everyone who was notified, in order.
        requests: Every REST request.
        unknown_routes: Requests for what the sandbox does not have, as "METHOD /path".
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        ack_timeout: float = ACK_TIMEOUT,
        patience: float = 5.0,
        limits: Limits = NO_LIMITS,
        heartbeat_interval: float = HEARTBEAT_INTERVAL,
        nonce_window: float = NONCE_WINDOW,
        resume_window: float = RESUME_WINDOW,
    ) -> None:
        self.clock: Clock = clock or SystemClock()
        self.ack_timeout, self.patience = ack_timeout, patience
        self.limits, self.heartbeat_interval = limits, heartbeat_interval
        self.nonce_window, self.resume_window = nonce_window, resume_window
        self.ids = Snowflakes(self.clock)
        self.pulse = Pulse()
        self.hub = Hub(self)
        self.faults = Faults(self)
        self.traffic = Traffic(self)
        self.nonces = Nonces(self)
        self.cdn = "http://127.0.0.1"
        self.gateway_url = "ws://127.0.0.1/gateway"
        self.guilds: list[Guild] = []
        self.users: dict[int, User] = {}
        self.places: dict[int, Place] = {}
        self.files: dict[int, Attachment] = {}
        self.webhooks: list[Webhook] = []
        self.interactions: dict[str, Interaction] = {}
        self.dms_closed: set[User] = set()
        self.pings: list[Ping] = []
        self.requests: list[LoggedRequest] = []
        self.unknown_routes: list[str] = []
        self.developer = self.person("developer")

    def guild(self, name: str, *, owner: User | None = None) -> Guild:
        """Add a server; without an owner a person is made for it."""
        guild = Guild(self, name, owner or self.person(f"owner of {name}"))
        self.guilds.append(guild)
        return guild

    def person(self, name: str, *, bot: bool = False, about: str = "") -> Person:
        """Add a person, or another bot that a test speaks for; ``about`` is shown on the page."""
        person = Person(self, name, is_bot=bot)
        person.about = about
        self.users[person.id] = person
        return person

    def bot(self, name: str, *, privileged: Iterable[str] = EVERY_PRIVILEGED) -> Bot:
        """Add an application whose client will connect; by default with every intent allowed."""
        bot = Bot(self, name, privileged)
        self.users[bot.id] = bot
        return bot

    def webhook(self, name: str, *, in_: Channel) -> Webhook:
        """Add a webhook to a channel."""
        webhook = Webhook(self, name, in_)
        self.webhooks.append(webhook)
        return webhook

    @property
    def bots(self) -> list[Bot]:
        """Every application."""
        return [each for each in self.users.values() if isinstance(each, Bot)]

    @property
    def persons(self) -> list[Person]:
        """Everyone whom a test or a visitor can speak for."""
        return [each for each in self.users.values() if isinstance(each, Person)]

    def loses_permission(self, user: User, *names: str, in_: Channel | Thread) -> None:
        """Deny someone permissions in a channel, or in the one that a thread hangs on."""
        take_away(user, names, in_)

    def regains_permission(self, user: User, *names: str, in_: Channel | Thread) -> None:
        """Take back what ``loses_permission`` denied."""
        give_back(user, names, in_)

    def direct(self, person: User, bot: Bot) -> DirectChannel:
        """Return the one DM channel of a person and a bot, made when first wanted."""
        for place in self.places.values():
            if isinstance(place, DirectChannel) and (place.person, place.bot) == (person, bot):
                return place
        place = DirectChannel(person, bot)
        self.places[place.id] = place
        return place
