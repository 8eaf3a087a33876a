"""The whole of a little Discord, as one plain object that tests and people drive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bot.sandbox.faults.faults import Faults
from bot.sandbox.people.person import Person
from bot.sandbox.people.webhooks import Webhook
from bot.sandbox.rate_limits.limits import NO_LIMITS, Limits
from bot.sandbox.rate_limits.traffic import Traffic
from bot.sandbox.resources.channels import Channel, Thread
from bot.sandbox.resources.guilds import Guild
from bot.sandbox.resources.overwrites import give_back, take_away
from bot.sandbox.resources.state import ACK_TIMEOUT, NONCE_WINDOW, RESUME_WINDOW, State
from bot.sandbox.resources.users import PRIVILEGED, Bot, User
from bot.sandbox.timing.clock import Clock
from bot.sandbox.timing.pulse import PATIENCE

EVERY_PRIVILEGED = [str(each.name) for each in PRIVILEGED]
HEARTBEAT_INTERVAL = 41.25


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


class World(State):
    """Guilds, accounts, messages; what was asked of it and who was pinged.

    Attributes:
        faults: What is to go wrong.
        gateway_url: The address of the gateway; set by ``serve``.
        heartbeat_interval: Seconds between heartbeats, as clients are told.
        limits: How often a bot may do what; by default as often as it likes.
        requests: Every REST request.
        traffic: Requests counted.
        unknown_routes: Requests for what the sandbox does not have, as "METHOD /path".
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        ack_timeout: float = ACK_TIMEOUT,
        patience: float = PATIENCE,
        limits: Limits = NO_LIMITS,
        heartbeat_interval: float = HEARTBEAT_INTERVAL,
        nonce_window: float = NONCE_WINDOW,
        resume_window: float = RESUME_WINDOW,
    ) -> None:
        super().__init__(
            clock=clock,
            ack_timeout=ack_timeout,
            patience=patience,
            nonce_window=nonce_window,
            resume_window=resume_window,
        )
        self.limits, self.heartbeat_interval = limits, heartbeat_interval
        self.traffic = Traffic(self.clock, lambda: self.limits)
        self.faults = Faults(self.hub, self.traffic)
        self.hub.deliver = self.faults.deliver
        self.gateway_url = "ws://127.0.0.1/gateway"
        self.webhooks: list[Webhook] = []
        self.requests: list[LoggedRequest] = []
        self.unknown_routes: list[str] = []
        self.developer: Person = self.person("developer")

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
    def persons(self) -> list[Person]:
        """Everyone whom a test or a visitor can speak for."""
        return [each for each in self.users.values() if isinstance(each, Person)]

    def loses_permission(self, user: User, *names: str, in_: Channel | Thread) -> None:
        """Deny someone permissions in a channel, or in the one that a thread hangs on."""
        take_away(user, names, in_)

    def regains_permission(self, user: User, *names: str, in_: Channel | Thread) -> None:
        """Take back what ``loses_permission`` denied."""
        give_back(user, names, in_)
