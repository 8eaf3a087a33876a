"""Everything about the front end that can be configured, as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from bot.agent.usage.budgets import Budgets
from bot.events import utc_now
from bot.frontend.shards import ALL, IDENTIFY_SECONDS, Shards
from bot.sessions.stores.lifetimes import Lifetime

DISCORD_API = "https://discord.com/api/v10"


class ReplyMode(StrEnum):
    """What a mention in a channel leads to."""

    THREAD = "thread"
    REPLY = "reply"


class DMPolicy(StrEnum):
    """Whose direct messages are answered; the owner's always are."""

    NOBODY = "nobody"
    MEMBERS = "members"  # whoever may talk in one of the servers
    EVERYONE = "everyone"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontendOptions:
    """How the bot behaves in Discord.

    Attributes:
        guild_ids: Servers in which it answers; empty: every server it was invited to.
        role_ids: Roles that may talk to it; with `user_ids` empty too: everyone in those servers.
        user_ids: Users who may talk to it, whatever their roles, in DMs too.
        channel_ids: Channels in which it answers without being mentioned.
        owner_ids: Its owners beside those that Discord names for the application.
        approver_role_ids: Roles that may decide, beside people with Manage Server.
        approver_user_ids: Users who may decide, in DMs too.
        approvals_channel: Where cards are shown, unless their server has it otherwise; `None`:
            where the conversation is.
        reply_mode: Whether a mention in a channel opens a thread.
        dms: Whose direct messages are answered.
        turns_per_minute: How many messages of one person are answered in a minute.
        budgets: How many tokens people and servers have.
        answer_buttons: Whether answers have buttons to try again and to go on.
        show_reasoning: Whether a model's reasoning is shown, folded.
        sees_images: Whether the model reads images.
        attachment_bytes: Files above this size are not read.
        drain_seconds: How long running turns may go on when the bot is closed.
        catch_up_window: How old a message may be that was written while the bot was away.
        guilds_within: Seconds in which, after connecting, servers are expected to arrive.
        dead_after: Seconds without a sign of life after which a connection is given up.
        reconnect_within: Seconds between two attempts to connect, at the most.
        shards: Which part of Discord is this process's.
        rescue_every: Seconds between two looks at what other processes are at.
        identify_pause: Seconds between two shards of a bucket that identify.
        lifetime: For how long conversations are kept.
        api_base: Where Discord's REST API is.
        clock: Tells what time it is, for what is to be said later.
    """

    guild_ids: frozenset[int] = frozenset()
    role_ids: frozenset[int] = frozenset()
    user_ids: frozenset[int] = frozenset()
    channel_ids: frozenset[int] = frozenset()
    owner_ids: frozenset[int] = frozenset()
    approver_role_ids: frozenset[int] = frozenset()
    approver_user_ids: frozenset[int] = frozenset()
    approvals_channel: int | None = None
    reply_mode: ReplyMode = ReplyMode.THREAD
    dms: DMPolicy = DMPolicy.MEMBERS
    turns_per_minute: int = 10
    budgets: Budgets = field(default_factory=Budgets)
    answer_buttons: bool = True
    show_reasoning: bool = False
    sees_images: bool = True
    attachment_bytes: int = 10 * 1024 * 1024
    drain_seconds: float = 10.0
    catch_up_window: timedelta = timedelta(hours=1)
    guilds_within: float = 2.0
    dead_after: float = 60.0
    reconnect_within: float = 60.0
    shards: Shards = ALL
    rescue_every: float = 5.0
    identify_pause: float = IDENTIFY_SECONDS
    lifetime: Lifetime = Lifetime()  # noqa: RUF009 - frozen
    api_base: str = DISCORD_API
    clock: Callable[[], datetime] = utc_now
