"""Parley in Discord: the only place that imports discord."""

from bot.frontend.access import may_decide
from bot.frontend.approvals.policy import ServerPolicy
from bot.frontend.client import ParleyClient
from bot.frontend.options import DISCORD_API, DMPolicy, FrontendOptions, ReplyMode
from bot.frontend.settings.book import SettingsBook
from bot.frontend.settings.effective import Operator
from bot.frontend.settings.profiles import ServerProfiles
from bot.frontend.stores import Stores
from bot.frontend.usage.metering import make_meter

__all__ = [
    "DISCORD_API",
    "DMPolicy",
    "FrontendOptions",
    "Operator",
    "ParleyClient",
    "ReplyMode",
    "ServerPolicy",
    "ServerProfiles",
    "SettingsBook",
    "Stores",
    "make_meter",
    "may_decide",
]
