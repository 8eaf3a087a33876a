"""The bot in a Discord of its own: to try it by hand, and to show it off."""

from bot.playground.demo import play_demo
from bot.playground.gallery import show_gallery
from bot.playground.serve import serve

__all__ = ["play_demo", "serve", "show_gallery"]
