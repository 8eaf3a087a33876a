"""Tool calls from their deltas, whatever a service does with `index`, `id` and `name`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.errors import ModelUnavailableError
from bot.events import ToolCall, new_id
from bot.providers.opaque import mended, mended_text, merge

_KNOWN = frozenset({"index", "id", "type", "function"})
_KNOWN_FUNCTION = frozenset({"name", "arguments"})


@dataclass(slots=True)
class _Call:
    call_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    function_extra: dict[str, Any] = field(default_factory=dict)

    def add(self, call_id: str, name: str, delta: Mapping[str, Any]) -> None:
        self.call_id = self.call_id or call_id
        self.name = self.name or name
        function = _object(delta.get("function"))
        self.arguments.append(_text(function.get("arguments")))
        _keep(self.extra, delta, _KNOWN)
        _keep(self.function_extra, function, _KNOWN_FUNCTION)

    def is_whole(self) -> bool:
        try:
            json.loads("".join(self.arguments))
        except (ValueError, RecursionError):
            return False
        return True

    def finished(self) -> ToolCall:
        extra: dict[str, Any] = {"id": self.call_id} if self.call_id else {}
        extra |= mended(self.extra)
        if self.function_extra:
            extra["function"] = mended(self.function_extra)
        arguments = mended_text("".join(self.arguments))
        return ToolCall(
            call_id=new_id("call"), tool=mended_text(self.name), arguments=arguments, extra=extra
        )


class ToolCalls:
    """The calls of one answer while it is streamed."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, deltas: object) -> None:
        """Add a delta's `tool_calls`."""
        for delta in deltas if isinstance(deltas, list) else ():
            if isinstance(delta, dict):
                self._add(delta)

    def finished(self) -> tuple[ToolCall, ...]:
        """Return the calls in the order in which they began.

        Raises:
            ModelUnavailableError: a call names no tool.
        """
        if not all(call.name for call in self._calls):
            raise ModelUnavailableError("the service sent a tool call without a name")
        return tuple(call.finished() for call in self._calls)

    def _add(self, delta: Mapping[str, Any]) -> None:
        function = _object(delta.get("function"))
        call_id, name = _string(delta.get("id")), _string(function.get("name"))
        index = delta.get("index")
        call = self._find(index, call_id, name)
        if call is None or _begins_another(call, call_id, name, function):
            call = _Call()
            self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        call.add(call_id, name, delta)

    def _find(self, index: object, call_id: str, name: str) -> _Call | None:
        """Find the call that a delta seems to continue."""
        if isinstance(index, int) and index in self._by_index:
            return self._by_index[index]
        if isinstance(index, int) and (call_id or name):
            return None
        same = [call for call in self._calls if call_id and call.call_id == call_id]
        return next(reversed(same or self._calls), None)


def _begins_another(call: _Call, call_id: str, name: str, function: Mapping[str, Any]) -> bool:
    """Whether a delta that should continue a call names another one.

    An id alone says nothing: some services make a new one for each delta. Nor does a name alone
    when it is the same: it is repeated, or the same tool is called again.
    """
    if not name or not call.name:
        return False
    if name != call.name:
        return True
    if call_id and call.call_id:
        return call_id != call.call_id
    return _text(function.get("arguments")).lstrip()[:1] == "{" and call.is_whole()


def _keep(kept: dict[str, Any], delta: Mapping[str, Any], known: frozenset[str]) -> None:
    """Keep unknown fields; one that is repeated whole with each delta is kept once."""
    new = {name: value for name, value in delta.items() if name not in known}
    merge(kept, {name: value for name, value in new.items() if kept.get(name) != value})


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _text(arguments: object) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)
