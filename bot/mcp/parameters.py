"""Arguments that a server's JSON schema describes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from itertools import islice
from typing import Any

from bot.agent import ExecutionContext
from bot.agent.arguments import parsed
from bot.errors import ToolError

MAX_PROBLEMS = 5
MAX_LENGTH = 200
LARGEST_SCHEMA = 100_000
"""Bytes: every request to the model has all of them."""
NOT_AT_THE_TOP = frozenset({"$schema", "oneOf", "anyOf", "allOf", "not", "enum"})
"""What services refuse there, and with it every request that has the tool."""


class SchemaParameters:
    """What a tool of a server takes: its schema is passed on, and arguments are held to it.

    One for which a service would refuse every request is refused here. Nothing is coerced. Defaults
    that the schema names for the top level are filled in, so that whoever approves sees them too.
    Regular expressions are left to the server: one may have been written to take for ever.
    """

    context_names: tuple[str, ...] = ()

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Compile the schema.

        Raises:
            ValueError: if it is none.
        """
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import Draft202012Validator, validator_for
        from referencing import Registry

        _check_that_it_can_be_told(schema)
        try:
            kind = validator_for(dict(schema), default=Draft202012Validator)
            kind.check_schema(dict(schema))
        except (SchemaError, RecursionError, AttributeError, TypeError) as exc:
            raise ValueError("its schema is not valid") from exc
        # A registry of its own: nothing that a schema refers to is fetched from anywhere.
        self._validator = _without_patterns(kind)(dict(schema), registry=Registry())
        told = {key: value for key, value in schema.items() if key not in NOT_AT_THE_TOP}
        self.schema: dict[str, Any] = {"properties": {}, **told, "type": "object"}

    def effective(self, written: str | Mapping[str, Any]) -> dict[str, Any]:
        """Return what would be sent: valid, with defaults where they are.

        Raises:
            ToolError: telling the model what is wrong.
        """
        values = parsed(written) if isinstance(written, str) else dict(written)
        try:
            json.dumps(values, allow_nan=False, ensure_ascii=False).encode()
            filled = {**deepcopy(self._defaults()), **values}
            if self._validator.is_valid(filled):
                return filled
            problems = [_told(e) for e in islice(self._errors(values), MAX_PROBLEMS)]
        except Exception as exc:  # what a schema refers to in vain, patterns, depth
            raise ToolError("Invalid arguments: they cannot be checked") from exc
        if problems:
            raise ToolError(f"Invalid arguments: {'; '.join(problems)}")
        return values

    def bound(self, arguments: Mapping[str, Any], context: ExecutionContext) -> dict[str, Any]:
        """Return the keywords of a function that sends a call."""
        return {"arguments": dict(arguments), "context": context}

    def _errors(self, values: Mapping[str, Any]) -> Any:
        return self._validator.iter_errors(values)

    def _defaults(self) -> dict[str, Any]:
        properties = self.schema["properties"]
        return {
            name: about["default"]
            for name, about in properties.items()
            if isinstance(about, dict) and "default" in about
        }


def _check_that_it_can_be_told(schema: Mapping[str, Any]) -> None:
    """Refuse a schema that services do not take.

    Raises:
        ValueError: if it is one.
    """
    try:
        size = len(json.dumps(schema, allow_nan=False, ensure_ascii=False).encode())
    except (ValueError, TypeError, RecursionError) as exc:
        raise ValueError("its schema is not JSON") from exc
    if size > LARGEST_SCHEMA:
        raise ValueError(f"its schema is too large ({size:,} bytes)")
    kinds = schema.get("type", "object")
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        raise ValueError("its schema is not valid: it takes no object")


def _without_patterns(kind: Any) -> Any:
    from jsonschema.validators import extend

    def anything(validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Any]:
        return ()

    def additional(validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Any]:
        if "patternProperties" in schema:
            return ()
        found: Iterable[Any] = kind.VALIDATORS["additionalProperties"](
            validator, value, instance, schema
        )
        return found or ()

    left_out = dict.fromkeys(("pattern", "patternProperties", "unevaluatedProperties"), anything)
    return extend(kind, {**left_out, "additionalProperties": additional})


def _told(error: Any) -> str:
    place = ".".join(map(str, error.absolute_path)) or "arguments"
    return f"{place}: {error.message[:MAX_LENGTH]}"
