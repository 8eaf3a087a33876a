"""Tools that ship with the bot and need no Discord."""

from bot.tools.clock import current_time
from bot.tools.dice import roll_dice
from bot.tools.own import own_tools

__all__ = ["current_time", "own_tools", "roll_dice"]
