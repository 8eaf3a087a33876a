"""The policy of a bot in Discord: the operator's file, and what managers decided in each server."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from bot.agent.policy.file import PolicyFile
from bot.agent.policy.policy import Rules
from bot.agent.policy.rule import UNSAID, Mode, OperatorRule, Rule
from bot.agent.policy.standing import Standing, standing
from bot.sessions.stores.homes import HomeStore
from bot.sessions.stores.policies import PolicyStore, server_scope

OFF = OperatorRule(rule=Rule(mode=Mode.NEVER), managers=Mode.OWN)
"""What holds of a tool that is off until it is enabled: managers may have it as it says itself."""


class ServerPolicy:
    """Reads the rules of a session from where they are kept, each time they are needed.

    Args:
        homes: In which server each session is.
        changes: What managers decided.
        file: What the operator says.
        off: Tools that are off until somebody enables them.
    """

    def __init__(
        self,
        *,
        homes: HomeStore,
        changes: PolicyStore,
        file: PolicyFile = PolicyFile(),  # noqa: B008 - frozen
        off: Collection[str] = (),
    ) -> None:
        self._homes = homes
        self._changes = changes
        self.file = file
        self._off = frozenset(off)

    async def refreshed(self, session_id: str) -> Rules:
        """Return the rules of a session as they are now."""
        home = await self._homes.of(session_id)
        server_id = home.server_id if home else None
        scopes = [server_scope(server_id)] if server_id is not None else []
        return self._rules(server_id, standing(await self._changes.of(session_id, *scopes)))

    async def in_server(self, server_id: int) -> Rules:
        """Return the rules of a server, with the standing yeses of all its places."""
        return self._rules(server_id, standing(await self._changes.in_server(server_id)))

    def _rules(self, server_id: int | None, held: Standing) -> Rules:
        return Rules(
            operator=partial(self._operator, server_id),
            managers=held.rules,
            grants=tuple(held.grants.values()),
        )

    def _operator(self, server_id: int | None, tool: str) -> OperatorRule:
        return self.file.of(tool, server_id, OFF if tool in self._off else UNSAID)
