"""/policy: the rules for tools in a server, for those who manage it."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable, Iterable

import discord
from discord import app_commands

from bot.agent.policy.rule import Mode
from bot.frontend.approvals.policies import Policies, grant_line, rule_of
from bot.frontend.commands.interactions import acknowledged, answer
from bot.frontend.people import People
from bot.frontend.text import one_line

CHOICES = 25  # Discord shows no more
LONGEST = 1900
MANAGERS = "Only people with Manage Server may see and change this."
_APPROVERS = "requester, moderator, owner, role:ID, user:ID, two_person; several with commas"
_MODE = "free: runs; own: as the tool says; ask: waits for a yes; never: off"
ToolName = app_commands.Range[str, 1, 64]
Act = Callable[[int], Awaitable[str]]
Choices = list[app_commands.Choice[str]]


class PolicyCommands(app_commands.Group):
    """The subcommands of /policy."""

    def __init__(self, policies: Policies, people: People) -> None:
        super().__init__(
            name="policy",
            description="Which tools may run here, and whom they ask",
            guild_only=True,
            default_permissions=discord.Permissions(manage_guild=True),
        )
        self._policies = policies
        self._people = people

    @app_commands.command()
    async def show(self, interaction: discord.Interaction) -> None:
        """Show the rule of each tool here, and what is allowed without asking."""
        await self._run(interaction, self._policies.shown)

    @app_commands.command(name="set")
    @app_commands.describe(
        tool="The tool",
        mode=_MODE,
        approvers=_APPROVERS,
        expires_hours="How long a request waits",
    )
    async def set_rule(
        self,
        interaction: discord.Interaction,
        tool: ToolName,
        mode: Mode | None = None,
        approvers: app_commands.Range[str, 1, 300] | None = None,
        expires_hours: app_commands.Range[float, 0.01, 8760.0] | None = None,
    ) -> None:
        """Set the rule of a tool in this server, as far as the operator lets you."""

        async def act(server_id: int) -> str:
            try:
                rule = rule_of(mode, approvers or "", expires_hours)
            except ValueError as exc:
                return f"Approvers: {exc}."
            return await self._policies.set(server_id, tool, rule, self._people.actor(interaction))

        await self._run(interaction, act)

    @app_commands.command()
    @app_commands.describe(tool="The tool")
    async def unset(self, interaction: discord.Interaction, tool: ToolName) -> None:
        """Take back what was set of a tool in this server."""
        actor = self._people.actor(interaction)
        await self._run(interaction, lambda server: self._policies.unset(server, tool, actor))

    @app_commands.command()
    @app_commands.describe(allowed="What is to be asked for again")
    async def revoke(
        self, interaction: discord.Interaction, allowed: app_commands.Range[str, 1, 100]
    ) -> None:
        """Take back a yes that was given once and for all."""
        actor = self._people.actor(interaction)
        await self._run(interaction, lambda server: self._policies.revoke(server, allowed, actor))

    @set_rule.autocomplete("tool")
    @unset.autocomplete("tool")
    async def _tools(self, interaction: discord.Interaction, current: str) -> Choices:
        return _choices(((name, name) for name in self._policies.tools), current)

    @revoke.autocomplete("allowed")
    async def _grants(self, interaction: discord.Interaction, current: str) -> Choices:
        if interaction.guild_id is None or not self._people.actor(interaction).moderator:
            return []
        found = await self._policies.grants(interaction.guild_id)
        return _choices(((one_line(grant_line(g), 100), g.grant_id) for g in found), current)

    async def _run(self, interaction: discord.Interaction, act: Act) -> None:
        if not await acknowledged(interaction):
            return
        actor, server_id = self._people.actor(interaction), interaction.guild_id
        if server_id is None or not (actor.moderator or actor.owner):
            await answer(interaction, MANAGERS)
        else:
            await say(interaction, await act(server_id), "policy.txt")


async def say(interaction: discord.Interaction, text: str, name: str) -> None:
    """Say something privately, as a file where it is long."""
    if len(text) <= LONGEST:
        await answer(interaction, text)
        return
    file = discord.File(io.BytesIO(text.encode()), name)
    await answer(interaction, "It is long, so it is attached.", files=[file])


def _choices(found: Iterable[tuple[str, str]], current: str) -> Choices:
    matching = [each for each in found if current.lower() in each[0].lower()]
    return [app_commands.Choice(name=name, value=value) for name, value in matching[:CHOICES]]
