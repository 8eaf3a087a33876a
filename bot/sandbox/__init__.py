"""A Discord on loopback, written from Discord's public reference, for trying and testing.

It is stricter than the real one where the reference leaves room, so that a client that works
here works there; how busy it may be is ``World(limits=REAL_LIMITS)``, and what goes wrong is
``Sandbox.faults``. It does not protect a world from those who can reach the loopback address.
"""

from bot.sandbox.answers import Answer
from bot.sandbox.channels import Channel, DirectChannel, Place, Thread
from bot.sandbox.clock import Clock, ManualClock, SystemClock
from bot.sandbox.errors import DiscordError, Refusal
from bot.sandbox.faults import Faults
from bot.sandbox.gates import Gate
from bot.sandbox.guilds import Guild, Member, Overwrite, Role
from bot.sandbox.limits import NO_LIMITS, REAL_LIMITS, Limits, Rate
from bot.sandbox.messages import Attachment, Flags, Kind, Message, Ping
from bot.sandbox.modals import Modal
from bot.sandbox.network import Network
from bot.sandbox.people import Person
from bot.sandbox.permissions import Permissions
from bot.sandbox.request_faults import RequestFault
from bot.sandbox.server import Sandbox, serve
from bot.sandbox.sessions import Session
from bot.sandbox.traffic import Scope, Traffic
from bot.sandbox.users import Bot, Intents, User
from bot.sandbox.webhooks import Webhook
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
