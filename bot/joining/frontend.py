"""What the front end needs to know of the settings; imports discord.py."""

from __future__ import annotations

from datetime import timedelta

from bot.agent.usage.budgets import Budgets, Limits
from bot.config import Settings
from bot.frontend import DMPolicy, FrontendOptions, Operator, ReplyMode
from bot.frontend.shards import Shards
from bot.joining.agent import SPEAKERS
from bot.sessions.stores.lifetimes import Lifetime


def frontend_options(settings: Settings) -> FrontendOptions:
    """Return what the front end needs to know of the settings."""
    return FrontendOptions(
        guild_ids=settings.allowed_servers,
        role_ids=settings.allowed_roles,
        user_ids=settings.allowed_users,
        channel_ids=settings.channels,
        owner_ids=settings.owner_ids,
        approver_role_ids=settings.approver_roles,
        approver_user_ids=settings.approver_users,
        approvals_channel=settings.approvals_channel,
        reply_mode=ReplyMode(settings.reply_mode),
        dms=DMPolicy(settings.dms),
        budgets=budgets(settings),
        turns_per_minute=settings.turns_per_minute,
        answer_buttons=settings.answer_buttons,
        show_reasoning=settings.show_reasoning,
        sees_images=settings.model_sees_images,
        drain_seconds=settings.shutdown_seconds,
        catch_up_window=timedelta(minutes=settings.catch_up_minutes),
        shards=Shards(settings.shard_count, settings.shard_ids),
        lifetime=Lifetime(
            age=_days(settings.session_max_days), idle=_days(settings.session_idle_days)
        ),
        api_base=settings.discord_api_base,
    )


def operator_of(settings: Settings, options: FrontendOptions) -> Operator:
    """Return what holds in servers that set nothing, and what they may set."""
    return Operator(
        models=tuple(dict.fromkeys((settings.openai_model, *settings.models))),
        prompt=settings.prompt,
        fixed=SPEAKERS,
        extras=frozenset(settings.model_extras),
        options=options,
    )


def budgets(settings: Settings) -> Budgets:
    """Return the budgets that are set up."""
    return Budgets(
        person=Limits(settings.user_tokens_per_day, settings.user_tokens_per_month),
        server=Limits(settings.server_tokens_per_day, settings.server_tokens_per_month),
        roles_day={str(role): most for role, most in settings.role_tokens_per_day.items()},
        roles_month={str(role): most for role, most in settings.role_tokens_per_month.items()},
    )


def _days(number: float) -> timedelta | None:
    return timedelta(days=number) if number else None
