"""Tools that ship with the bot and need no Discord."""

from bot.tools.clock import current_time
from bot.tools.dice import roll_dice
from bot.tools.own import own_tools
from bot.tools.web import fetch_page

__all__ = ["current_time", "fetch_page", "own_tools", "roll_dice"]
