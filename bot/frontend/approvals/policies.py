"""What managers see of the policy of their server, and change in it; each gives a text to say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from bot.agent import Actor, Agent, Tool
from bot.agent.approvers import Approvers
from bot.agent.history.visible import visible_json
from bot.agent.policy.ceiling import allowed, objection
from bot.agent.policy.policy import Rules
from bot.agent.policy.rule import NOTHING, Grant, Mode, Rule
from bot.agent.policy.standing import rule_to_json
from bot.frontend.approvals.decisions import told
from bot.frontend.approvals.policy import ServerPolicy
from bot.frontend.text import code, plain
from bot.frontend.view.card import person
from bot.sessions.stores.policies import ChangeKind, PolicyChange, PolicyStore, server_scope

NO_TOOL = "There is no such tool."
EVERYBODY = (
    "Approvers: that role is @everyone, so whoever sees a request could approve it, who asked too. "
    "Name another role, or `requester`."
)
NO_GRANT = "Nothing of that name is allowed here."
_MODES = {
    Mode.FREE: "runs without asking",
    Mode.OWN: "asks or not, by its arguments",
    Mode.ASK: "asks",
    Mode.NEVER: "off",
}


class Policies:
    """The rules of servers, for those who manage them."""

    def __init__(self, *, agent: Agent, policy: ServerPolicy, changes: PolicyStore) -> None:
        self._agent = agent
        self._policy = policy
        self._changes = changes

    @property
    def tools(self) -> Sequence[str]:
        """The names of all tools."""
        return sorted(self._agent.tools)

    async def grants(self, server_id: int) -> Sequence[Grant]:
        """Return what is allowed without asking, anywhere in a server."""
        return (await self._policy.in_server(server_id)).grants

    async def shown(self, server_id: int) -> str:
        """Return the rule of each tool, and what is allowed without asking."""
        rules = await self._policy.in_server(server_id)
        return "\n".join(self._lines(rules))

    async def set(self, server_id: int, tool: str, rule: Rule, actor: Actor) -> str:
        """Let a rule hold in a server, if its managers may; return what to say.

        What it leaves open stays as it was set: naming approvers turns nothing on again. Approvers
        that are named take the place of all that were. What the operator allows no more goes.
        """
        if rule.approvers is not None and str(server_id) in rule.approvers.roles:
            return EVERYBODY
        found = self._agent.tools.get(tool)
        if found is None:
            return NO_TOOL
        rules = await self._policy.in_server(server_id)
        before = allowed(found, rules.operator(tool), rules.managers.get(tool, NOTHING))
        rule = replace(rule.over(before), approvers=rule.approvers or before.approvers)
        if why := objection(found, rules.operator(tool), rule):
            return why
        await self._change(server_id, ChangeKind.RULE, tool, actor, rule)
        return f"From now on here: {_rule(found, await self._policy.in_server(server_id))}"

    async def unset(self, server_id: int, tool: str, actor: Actor) -> str:
        """Take back what was set of a tool in a server."""
        found = self._agent.tools.get(tool)
        if found is None:
            return NO_TOOL
        await self._change(server_id, ChangeKind.RULE, tool, actor)
        return f"From now on here: {_rule(found, await self._policy.in_server(server_id))}"

    async def revoke(self, server_id: int, grant_id: str, actor: Actor) -> str:
        """Let something be asked for again."""
        for grant in await self.grants(server_id):
            if grant.grant_id == grant_id:
                await self._changes.add(
                    PolicyChange(
                        scope=grant.scope,
                        kind=ChangeKind.REVOKE,
                        subject=grant_id,
                        by=actor.user_id,
                    )
                )
                return f"{code(grant.tool)} asks again."
        return NO_GRANT

    async def _change(
        self, server_id: int, kind: ChangeKind, tool: str, actor: Actor, rule: Rule = NOTHING
    ) -> None:
        change = PolicyChange(
            scope=server_scope(server_id),
            kind=kind,
            subject=tool,
            by=actor.user_id,
            body=rule_to_json(rule),
        )
        await self._changes.add(change)

    def _lines(self, rules: Rules) -> Iterator[str]:
        yield "**Tools in this server**"
        for _, tool in sorted(self._agent.tools.items()):
            yield f"- {_rule(tool, rules)}"
        if rules.grants:
            yield "**Allowed without asking**; `/policy revoke` takes it back"
        for grant in rules.grants:
            yield f"- {grant_line(grant)}"


def rule_of(mode: Mode | None, approvers: str, hours: float | None) -> Rule:
    """Return the rule that a command tells.

    Raises:
        ValueError: saying what is wrong with it.
    """
    return Rule(
        mode=mode,
        approvers=Approvers.of(approvers) if approvers.strip() else None,
        expires_in=timedelta(hours=hours) if hours else None,
    )


def grant_line(grant: Grant) -> str:
    """Return a standing yes in one line."""
    fixed = {name: value for name, value in grant.arguments.items() if name != grant.free}
    return (
        f"{code(grant.tool)} {plain(visible_json(fixed), 200)} {told(grant)}, by {person(grant.by)}"
    )


def _rule(tool: Tool, rules: Rules) -> str:
    rule = rules.of(tool)
    mode = rule.mode or Mode.OWN
    if mode is Mode.OWN and isinstance(tool.approval, bool):
        mode = Mode.ASK if tool.approval else Mode.FREE
    parts = [f"{code(tool.name)} {_MODES[mode]}"]
    if rule.approvers is not None:
        parts.append(f"approvers: {', '.join(rule.approvers.words)}")
    if rule.expires_in is not None:
        parts.append(f"expires after {rule.expires_in.total_seconds() / 3600:g} h")
    if tool.name in rules.managers:
        parts.append("set here")
    return "; ".join(parts)
