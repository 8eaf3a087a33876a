"""The commands of the command line, one file a subject; each joins itself to the parser."""

from bot.commands.databases import add_databases
from bot.commands.reports import add_reports
from bot.commands.running import add_running
from bot.commands.transfers import add_transfers

__all__ = ["add_databases", "add_reports", "add_running", "add_transfers"]
