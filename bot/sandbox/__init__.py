"""A Discord on loopback, written from Discord's public reference, for trying and testing.

It is stricter than the real one where the reference leaves room, so that a client that works
here works there. It does not protect a world from those who can reach the loopback address.
"""

from .answers import Answer
from .channels import Channel, DirectChannel, Place, Thread
from .clock import Clock, ManualClock, SystemClock
from .errors import DiscordError, Refusal
from .guilds import Guild, Member, Overwrite, Role
from .messages import Attachment, Flags, Kind, Message, Ping
from .people import Person
from .permissions import Permissions
from .server import Sandbox, serve
from .users import Bot, Intents, User
from .webhooks import Webhook
from .world import LoggedRequest, World

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
