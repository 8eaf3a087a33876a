"""A session's state: a mapping that takes JSON and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from bot.errors import StateError


class State(MutableMapping[str, Any]):
    """JSON values by name; a value that is not JSON is refused when it is set.

    What is changed inside a value later is checked when the session is saved.

    Raises:
        StateError: naming the key, when a value would not come back equal from JSON.
    """

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values: dict[str, Any] = {}
        if values:
            self.update(values)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise StateError(f"state keys are strings, not {key!r}")
        encode_value(key, value)
        self._values[key] = value

    def __delitem__(self, key: str) -> None:
        del self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"State({self._values!r})"

    def to_json(self) -> str:
        """Return the JSON text of all values, every one checked anew."""
        values = list(self._values.items())  # a tool in a thread may be setting one meanwhile
        pairs = [f"{json.dumps(k)}:{encode_value(k, v)}" for k, v in values]
        return f"{{{','.join(pairs)}}}"

    @classmethod
    def from_json(cls, text: str) -> State:
        """Return the state of a text that `to_json` made, unchecked."""
        state = cls()
        state._values = json.loads(text)
        return state

    def mended(self, base: str) -> State:
        """Return the same, with what `base`, a JSON text, has in place of what is not JSON."""
        before = json.loads(base) if base else {}
        good = State()
        for key, value in list(self.items()):
            if _is_json(key, value):
                good._values[key] = value
            elif key in before:
                good._values[key] = before[key]
        return good

    def replace(self, other: State) -> None:
        """Have the values of another state, unchecked."""
        self._values = dict(other._values)

    def rebase(self, base: str, stored: State) -> None:
        """Take what a store holds, and keep what was changed here since `base`, a JSON text."""
        before = json.loads(base) if base else {}
        changed = {k: v for k, v in self.items() if k not in before or before[k] != v}
        kept = {k: v for k, v in stored.items() if k in self or k not in before}
        self._values = kept | changed


def encode_value(key: str, value: Any) -> str:
    """Return a value's JSON text.

    Raises:
        StateError: when the value would not come back equal.
    """
    try:
        text = json.dumps(value, allow_nan=False)
        same = json.loads(text) == value
    except (TypeError, ValueError, RecursionError) as exc:
        raise StateError(f"state[{key!r}] is not JSON: {exc}") from exc
    if not same:
        raise StateError(f"state[{key!r}] would not come back equal from JSON")
    return text


def _is_json(key: str, value: Any) -> bool:
    try:
        encode_value(key, value)
    except StateError:
        return False
    return True
