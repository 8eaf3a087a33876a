"""Reading what holds in a place, and changing what it has of its own."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from bot.agent.usage.budgets import Limits
from bot.events import utc_now
from bot.frontend.settings.effective import Effective, Operator, effective
from bot.frontend.settings.own import ChannelSettings, Own, ServerSettings
from bot.sessions.stores.homes import Home
from bot.sessions.stores.settings import Change, Scope, SettingsStore, Stored

logger = logging.getLogger(__name__)

FRESH = 5.0
"""Seconds for which what was read is taken to hold: another process may change it."""
MOST = 10_000
"""Places of which it is remembered."""

T = TypeVar("T", bound=Own)
Pair = tuple[ServerSettings, ChannelSettings]
Edit = Callable[[Own], Own]


class SettingsBook:
    """The settings of all servers.

    Args:
        store: Where they are kept.
        operator: The default and the ceiling.
        clock: In seconds.

    Attributes:
        tools: Tells the tools that there are now.
    """

    def __init__(
        self,
        store: SettingsStore,
        operator: Operator,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.tools: Callable[[], Collection[str]] = frozenset
        self._store = store
        self._operator = operator
        self._clock = clock
        self._read: dict[Home, tuple[float, Pair]] = {}

    @property
    def operator(self) -> Operator:
        """What the operator has set, with the tools that there are now."""
        return replace(self._operator, tools=frozenset(self.tools()))

    async def here(
        self, home: Home, *, thread_id: int | None = None, fresh: bool = False
    ) -> Effective:
        """Return what holds in a channel; in channel 0, what holds in the server.

        Args:
            home: The server and the channel, of a thread the one that it hangs on.
            thread_id: The thread, which the operator's settings may name too.
            fresh: Whether what another process changed a moment ago counts already.
        """
        server, channel = await self.own(home, fresh=fresh)
        ids = frozenset({home.channel_id, thread_id or home.channel_id})
        return effective(self.operator, server, channel, ids)

    async def limits_of(self, server_id: int) -> Limits:
        """Return how many tokens all people of a server have together."""
        here = await self.here(Home(server_id, 0))
        return Limits(here.tokens_per_day.value or 0, here.tokens_per_month.value or 0)

    async def approvals_channel(self, server_id: int) -> int | None:
        """Return where a server's requests are shown, `None` for where the conversation is."""
        return (await self.here(Home(server_id, 0))).approvals_channel.value

    async def own(self, home: Home, *, fresh: bool = True) -> Pair:
        """Return what a server and a channel have of their own."""
        now = self._clock()
        at, pair = self._read.get(home, (now - FRESH, None))
        if pair is None or fresh or now - at >= FRESH:
            remembered = self._read
            pair = await self._own(home)
            if len(remembered) >= MOST:
                remembered.clear()
            remembered[home] = (now, pair)  # forgotten if something was changed meanwhile
        return pair

    async def change(self, scope: Scope, field: str, by: str, edit: Edit) -> None:
        """Change a field of a scope, as somebody who may; what does not change is not stored.

        Raises:
            SettingError: what `edit` raises.
        """
        while True:
            [stored] = await self._store.of(scope)
            before = _kind(scope).from_json(stored.value)
            after = edit(before)
            if after == before or await self._store.put(_change(scope, stored, field, by, after)):
                break
        self._read = {}
        logger.info(
            "settings of server %s, channel %s: %s changed by %s",
            scope.server_id,
            scope.channel_id or "all",
            field,
            by,
        )

    async def changes(self, server_id: int, limit: int) -> Sequence[Change]:
        """Return the last changes in a server, latest first."""
        return await self._store.changes(server_id, limit=limit)

    async def _own(self, home: Home) -> Pair:
        of_channel = Scope(home.server_id, home.channel_id)
        server, channel = await self._store.of(of_channel.server, of_channel)
        own = ChannelSettings.from_json(channel.value) if home.channel_id else ChannelSettings()
        return ServerSettings.from_json(server.value), own


def _kind(scope: Scope) -> type[Own]:
    return ChannelSettings if scope.channel_id else ServerSettings


def _change(scope: Scope, stored: Stored, field: str, by: str, after: Own) -> Change:
    return Change(
        scope=scope,
        version=stored.version + 1,
        value=after.to_json(),
        field=field,
        by=by,
        at=utc_now(),
    )
