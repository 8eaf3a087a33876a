"""A Discord on loopback, written from Discord's public reference, for trying and testing.

It is stricter than the real one where the reference leaves room, so that a client that works
here works there; how busy it may be is ``World(limits=REAL_LIMITS)``, and what goes wrong is
``Sandbox.faults``. It does not protect a world from those who can reach the loopback address.
"""

from bot.sandbox.answers.answers import Answer
from bot.sandbox.faults.faults import Faults
from bot.sandbox.faults.requests import RequestFault
from bot.sandbox.network import Network
from bot.sandbox.people.person import Person
from bot.sandbox.people.webhooks import Webhook
from bot.sandbox.rate_limits.limits import NO_LIMITS, REAL_LIMITS, Limits, Rate
from bot.sandbox.rate_limits.traffic import Scope, Traffic
from bot.sandbox.refusals.errors import DiscordError, Refusal
from bot.sandbox.resources.channels import Channel, DirectChannel, Place, Thread
from bot.sandbox.resources.guilds import Guild, Member, Overwrite, Role
from bot.sandbox.resources.messages import Attachment, Flags, Kind, Message, Ping
from bot.sandbox.resources.modals import Modal
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.sessions import Session
from bot.sandbox.resources.users import Bot, Intents, User
from bot.sandbox.server import Sandbox, serve
from bot.sandbox.timing.clock import Clock, ManualClock, SystemClock
from bot.sandbox.timing.gates import Gate
from bot.sandbox.world import LoggedRequest, World

__all__ = [
    "NO_LIMITS",
    "REAL_LIMITS",
    "Answer",
    "Attachment",
    "Bot",
    "Channel",
    "Clock",
    "DirectChannel",
    "DiscordError",
    "Faults",
    "Flags",
    "Gate",
    "Guild",
    "Intents",
    "Kind",
    "Limits",
    "LoggedRequest",
    "ManualClock",
    "Member",
    "Message",
    "Modal",
    "Network",
    "Overwrite",
    "Permissions",
    "Person",
    "Ping",
    "Place",
    "Rate",
    "Refusal",
    "RequestFault",
    "Role",
    "Sandbox",
    "Scope",
    "Session",
    "SystemClock",
    "Thread",
    "Traffic",
    "User",
    "Webhook",
    "World",
    "serve",
]
