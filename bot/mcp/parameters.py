"""Arguments that a server's JSON schema describes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from itertools import islice
from typing import Any

from bot.agent import ExecutionContext
from bot.agent.arguments import parsed
from bot.errors import ToolError

MAX_PROBLEMS = 5
MAX_LENGTH = 200


class SchemaParameters:
    """What a tool of a server takes: its schema is passed on, and arguments are held to it.

    Nothing is coerced. Defaults that the schema names for the top level are filled in, so that
    whoever approves sees them too.
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

        kind = validator_for(dict(schema), default=Draft202012Validator)
        try:
            kind.check_schema(dict(schema))
        except (SchemaError, RecursionError) as exc:
            raise ValueError("its schema is not valid") from exc
        # A registry of its own: nothing that a schema refers to is fetched from anywhere.
        self._validator = kind(dict(schema), registry=Registry())
        told = {key: value for key, value in schema.items() if key != "$schema"}
        self.schema: dict[str, Any] = {"type": "object", "properties": {}, **told}

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


def _told(error: Any) -> str:
    place = ".".join(map(str, error.absolute_path)) or "arguments"
    return f"{place}: {error.message[:MAX_LENGTH]}"
