"""A Discord on loopback, written from Discord's public reference, for trying and testing.

It is stricter than the real one where the reference leaves room, so that a client that works
here works there. It does not protect a world from those who can reach the loopback address.
"""

from bot.sandbox.answers import Answer
from bot.sandbox.channels import Channel, DirectChannel, Place, Thread
from bot.sandbox.clock import Clock, ManualClock, SystemClock
from bot.sandbox.errors import DiscordError, Refusal
from bot.sandbox.guilds import Guild, Member, Overwrite, Role
from bot.sandbox.messages import Attachment, Flags, Kind, Message, Ping
from bot.sandbox.modals import Modal
from bot.sandbox.people import Person
from bot.sandbox.permissions import Permissions
from bot.sandbox.server import Sandbox, serve
from bot.sandbox.users import Bot, Intents, User
from bot.sandbox.webhooks import Webhook
from bot.sandbox.world import LoggedRequest, World

__all__ = [
    "Answer",
    "Attachment",
    "Bot",
    "Channel",
    "Clock",
    "DirectChannel",
    "DiscordError",
    "Flags",
    "Guild",
    "Intents",
    "Kind",
    "LoggedRequest",
    "ManualClock",
    "Member",
    "Message",
    "Modal",
    "Overwrite",
    "Permissions",
    "Person",
    "Ping",
    "Place",
    "Refusal",
    "Role",
    "Sandbox",
    "SystemClock",
    "Thread",
    "User",
    "Webhook",
    "World",
    "serve",
]
