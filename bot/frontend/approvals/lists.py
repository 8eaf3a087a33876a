"""What waits for a decision, and what was decided and done: as texts to say privately."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from bot.agent import Agent
from bot.agent.audit import AuditEntry, audit, of_change, only
from bot.frontend.ids import PlaceKind, place_of
from bot.frontend.stores import Stores
from bot.frontend.text import code
from bot.frontend.view.card import person
from bot.frontend.view.shown import Purpose
from bot.sessions.store import ApprovalRecord

PAGE = 7
"""Requests on a page: as many as one message has room for, with links and the longest names."""
MOST = 25
"""Entries of an audit that are told; all of them are attached."""
NOTHING_WAITS = "Nothing waits for a decision."
_LINK = "https://discord.com/channels"


@dataclass(frozen=True, slots=True)
class Audited:
    """The latest entries of an audit, as lines, and all of them as lines of JSON."""

    latest: Sequence[str]
    everything: Sequence[str]


class Lists:
    """Looks things up for people who may see them; who that is, the commands say."""

    def __init__(self, *, agent: Agent, stores: Stores) -> None:
        self._agent = agent
        self._stores = stores
        self._ids = stores.ids

    async def waiting_here(self, session_id: str, page: int) -> str:
        """Return one page of what waits in a session."""
        requests = await self._agent.pending(session_id)
        return await self._told([each.approval_id for each in requests], page)

    async def waiting_in(self, server_id: int, page: int) -> str:
        """Return one page of what waits in a server."""
        return await self._told(await self._ids.waiting(server_id), page)

    async def audit_here(self, session_id: str, since: datetime | None) -> Audited:
        """Return the audit of a session, with what was decided for it alone."""
        changes = await self._stores.policies.of(session_id)
        return await self._audited(only(session_id), [of_change(each) for each in changes], since)

    async def audit_in(self, server_id: int, since: datetime | None) -> Audited:
        """Return the audit of a server."""
        sessions = self._stores.actions.sessions(server_id=server_id, since=since)
        changes = await self._stores.policies.in_server(server_id)
        return await self._audited(sessions, [of_change(each) for each in changes], since)

    async def _audited(
        self,
        sessions: AsyncGenerator[str, None],
        more: Sequence[AuditEntry],
        since: datetime | None,
    ) -> Audited:
        async with (
            aclosing(sessions),
            aclosing(audit(self._stores.actions, sessions, since=since)) as entries,
        ):
            found = [entry async for entry in entries]
        found += [each for each in more if since is None or each.at >= since]
        return await asyncio.to_thread(_in_order, found)

    async def _told(self, approval_ids: Sequence[str], page: int) -> str:
        pages = -(-len(approval_ids) // PAGE)
        page = min(page, pages)
        shown = approval_ids[max(0, page - 1) * PAGE : page * PAGE]
        found = [await self._stores.sessions.find_approval(each) for each in shown]
        undecided = [each for each in found if each is not None and each.decision is None]
        lines = [await self._waiting(each) for each in undecided]
        if pages > 1:
            lines.append(f"-# Page {page} of {pages}, {len(approval_ids)} requests in all.")
        return "\n".join(lines) or NOTHING_WAITS

    async def _waiting(self, record: ApprovalRecord) -> str:
        request, place = record.request, place_of(record.session_id)
        where = f" in <#{place.channel_id}>" if place and place.kind is not PlaceKind.DM else ""
        expires = int(request.expires_at.timestamp())
        return (
            f"- {code(request.tool)}{where}, asked for by {person(request.requested_by)}, "
            f"expires <t:{expires}:R>{await self._link(record)}"
        )

    async def _link(self, record: ApprovalRecord) -> str:
        request, session_id = record.request, record.session_id
        known = await self._stores.deliveries.of(session_id, [request.turn_id])
        home = await self._stores.homes.of(session_id)
        for each in known:
            is_card = each.purpose == Purpose.CARD and each.subject == request.approval_id
            if is_card and each.message_id is not None:
                server = home.server_id if home else "@me"
                return f": {_LINK}/{server}/{each.channel_id}/{each.message_id}"
        return ""


def _in_order(found: list[AuditEntry]) -> Audited:
    found.sort(key=lambda entry: entry.at)
    latest = [_line(each) for each in deque(found, MOST)]
    return Audited(latest, [each.to_json() for each in found])


def _line(entry: AuditEntry) -> str:
    who = f" by {person(entry.who)}" if entry.who else ""
    digest = f" `{entry.arguments_sha256[:12]}`" if entry.arguments_sha256 else ""
    outcome = f" {entry.outcome}" if entry.outcome else ""
    when = f"<t:{int(entry.at.timestamp())}:f>"
    return f"{when} {entry.what} {code(entry.tool)}{outcome}{who}{digest}"
