"""Tools that ship with the bot and need no Discord."""

from bot.tools.clock import current_time
from bot.tools.dice import roll_dice

__all__ = ["current_time", "roll_dice"]
