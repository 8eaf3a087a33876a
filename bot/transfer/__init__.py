"""Conversations as files: taken in from elsewhere, and given out."""

from bot.transfer.own import export_session
from bot.transfer.reading import FORMATS, read_file
from bot.transfer.taking import take_in

__all__ = ["FORMATS", "export_session", "read_file", "take_in"]
