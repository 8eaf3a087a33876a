"""The meter of a bot in Discord."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.agent.usage.metering import ActorOf, StoredMeter
from bot.events import utc_now
from bot.frontend.options import FrontendOptions
from bot.frontend.settings.book import SettingsBook
from bot.frontend.stores import Stores
from bot.frontend.text import relative_time


def make_meter(
    stores: Stores,
    options: FrontendOptions,
    actor_of: ActorOf,
    clock: Callable[[], datetime] = utc_now,
    *,
    settings: SettingsBook,
) -> StoredMeter:
    """Return a meter that goes by the budgets of the options, and by those of servers."""
    return StoredMeter(
        usage=stores.usage,
        homes=stores.homes,
        budgets=options.budgets,
        server_limits=settings.limits_of,
        actor_of=actor_of,
        when=relative_time,
        clock=clock,
    )
