"""The tree of commands, told to Discord only when it changed."""

from __future__ import annotations

import hashlib
import json
import logging

import discord
from discord import app_commands

from bot.frontend.commands.interactions import is_taken, owned, tell_failure
from bot.frontend.refusals import RefusedError, asked
from bot.sessions.stores.marks import MarkStore

logger = logging.getLogger(__name__)


def _is_news(record: logging.LogRecord) -> bool:
    """Pass over completions that another process has answered: discord.py logs them as errors."""
    return not (record.exc_info and is_taken(record.exc_info[1]))


class Tree(app_commands.CommandTree[discord.Client]):
    """Commands for servers and for DMs with the bot."""

    def __init__(self, client: discord.Client) -> None:
        super().__init__(
            client,
            allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True),
            allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
        )
        logging.getLogger("discord.app_commands.tree").addFilter(_is_news)

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Return whether a command, or what completes one, may be acted on."""
        return owned(interaction)

    async def on_error(
        self, interaction: discord.Interaction, error: app_commands.AppCommandError, /
    ) -> None:
        """Tell who commanded that it failed."""
        await tell_failure(interaction, error)

    async def sync_if_changed(self, marks: MarkStore) -> None:
        """Tell Discord the commands, unless they are what it was told last.

        Discord allows 200 creations a day (reference, "Registering a command").
        """
        definition = [command.to_dict(self) for command in self.get_commands()]
        text = json.dumps(definition, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        key = f"commands-{self.client.application_id}"
        if await marks.get(key) == digest:
            return
        try:
            await asked(self.sync)
        except RefusedError as exc:
            logger.warning("the commands could not be told to Discord: %s", exc)
        else:
            await marks.set(key, digest)
            logger.info("the commands were told to Discord")
