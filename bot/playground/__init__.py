"""The bot in a Discord of its own: to try it by hand, and to show it off."""
