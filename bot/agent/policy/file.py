"""The operator's policy: a TOML file, read as a whole, with all that is wrong told at once."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from bot.agent.approvers import Approvers
from bot.agent.policy.rule import UNSAID, Mode, OperatorRule, Rule
from bot.errors import ConfigError

_KEYS = ("mode", "approvers", "expires_hours", "managers")
_LONGEST = 24 * 365


Table = Mapping[str, OperatorRule]


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """The operator's rules: for everywhere, and for servers, where they win."""

    tools: Table = field(default_factory=dict)
    servers: Mapping[int, Table] = field(default_factory=dict)

    def of(self, tool: str, server_id: int | None, default: OperatorRule = UNSAID) -> OperatorRule:
        """Return what is said of a tool in a server, or elsewhere.

        Where no mode is said, that and what managers may set are as `default` has them.
        """
        here = self.servers.get(server_id or 0, {}).get(tool, UNSAID)
        said = here.over(self.tools.get(tool, UNSAID))
        return said if said.rule.mode else said.over(default)


def parse_policy(text: str, *, name: str, known: Collection[str] | None = None) -> PolicyFile:
    """Return the policy that a file tells.

    Args:
        text: What is in it.
        name: What it is called in errors.
        known: The tools there are; a rule for another one is refused, for it may be mistyped.

    Raises:
        ConfigError: naming everything that is wrong.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"{name} is not TOML: {exc}") from None
    reading = _Reading(name, known)
    policy = reading.policy(data)
    if reading.problems:
        raise ConfigError(*reading.problems)
    return policy


class _Reading:
    """One reading, which notes what is wrong and goes on."""

    def __init__(self, name: str, known: Collection[str] | None) -> None:
        self.problems: list[str] = []
        self._name = name
        self._known = known

    def policy(self, data: Mapping[str, Any]) -> PolicyFile:
        self._only(data, ("tools", "servers"), "")
        servers: dict[int, Table] = {}
        for key, value in self._tables(data.get("servers", {}), "servers"):
            if not key.isdecimal():
                self._wrong(f"servers.{key}", "is named by its id, a long number")
                continue
            self._only(value, ("tools",), f"servers.{key}.")
            servers[int(key)] = self._tools(value.get("tools", {}), f"servers.{key}.tools")
        return PolicyFile(self._tools(data.get("tools", {}), "tools"), servers)

    def _tools(self, value: Any, where: str) -> Table:
        return {
            tool: self._rule(tool, each, f"{where}.{tool}")
            for tool, each in self._tables(value, where)
        }

    def _rule(self, tool: str, data: Mapping[str, Any], where: str) -> OperatorRule:
        if self._known is not None and tool not in self._known:
            self._wrong(where, "is about a tool that there is not")
        self._only(data, _KEYS, f"{where}.")
        rule = Rule(
            mode=self._mode(data, "mode", where),
            approvers=self._approvers(data.get("approvers"), where),
            expires_in=self._expiry(data.get("expires_hours"), where),
        )
        return OperatorRule(rule=rule, managers=self._mode(data, "managers", where))

    def _mode(self, data: Mapping[str, Any], key: str, where: str) -> Mode | None:
        value = data.get(key)
        if value is None:
            return None
        try:
            return Mode(value)
        except ValueError:
            self._wrong(f"{where}.{key}", f"must be one of {', '.join(Mode)}, not {value!r}")
            return None

    def _approvers(self, value: Any, where: str) -> Approvers | None:
        if value is None:
            return None
        try:
            return Approvers.of(
                [value] if isinstance(value, str) else [str(each) for each in value]
            )
        except (TypeError, ValueError) as exc:
            self._wrong(f"{where}.approvers", str(exc))
            return None

    def _expiry(self, value: Any, where: str) -> timedelta | None:
        if value is None:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and 0 < value <= _LONGEST):
            self._wrong(f"{where}.expires_hours", f"must be above 0 and at most {_LONGEST}")
            return None
        return timedelta(hours=value)

    def _tables(self, value: Any, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if not isinstance(value, dict):
            self._wrong(where, "must be a table")
            return
        for key, each in value.items():
            if isinstance(each, dict):
                yield key, each
            else:
                self._wrong(f"{where}.{key}", "must be a table")

    def _only(self, data: Mapping[str, Any], keys: Collection[str], where: str) -> None:
        for key in data:
            if key not in keys:
                self._wrong(f"{where}{key}", f"is none of {', '.join(keys)}")

    def _wrong(self, where: str, what: str) -> None:
        self.problems.append(f"{self._name}: {where} {what}.")
