"""A tool's arguments: their schema, and what a model wrote made into what would run."""

from __future__ import annotations

import hashlib
import inspect
import json
import typing
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

from bot.agent.context import ExecutionContext
from bot.errors import ToolError

if TYPE_CHECKING:
    from pydantic import BaseModel


class Parameters(Protocol):
    """What a tool takes: a schema, and what becomes of the arguments that a model wrote."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments object."""
        ...

    @property
    def context_names(self) -> tuple[str, ...]:
        """The parameters that take the `ExecutionContext`, whose session a call may change."""
        ...

    def effective(self, written: str | Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments that would run, as JSON; given to it again they stay the same.

        Raises:
            ToolError: telling the model what is wrong.
        """
        ...

    def bound(self, arguments: Mapping[str, Any], context: ExecutionContext) -> dict[str, Any]:
        """Return keyword arguments for the tool's function from effective ones."""
        ...


class FunctionParameters:
    """The parameters of a function, those that the model fills and those that we do.

    Pydantic is loaded when the schema or a validation is first asked for.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        while isinstance(function, partial):
            function = function.func
        is_plain = inspect.isroutine(function)
        self._hinted = function if is_plain else type(function).__call__

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return typing.get_type_hints(self._hinted, include_extras=True)

    @cached_property
    def _signature(self) -> dict[str, inspect.Parameter]:
        parameters = dict(inspect.signature(self._function).parameters)
        for name, parameter in parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise TypeError(f"a tool names all its parameters; {name!r} gathers the rest")
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise TypeError(f"a tool's parameters are passed by name; {name!r} cannot be")
        return parameters

    @cached_property
    def context_names(self) -> tuple[str, ...]:
        """The parameters that take the `ExecutionContext`."""
        return tuple(n for n in self._signature if self._hints.get(n) is ExecutionContext)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(n for n in self._signature if n not in self.context_names)

    @cached_property
    def _model(self) -> type[BaseModel]:
        from pydantic import ConfigDict, Field, create_model

        described = _described_parameters(self._function)
        fields: dict[str, Any] = {}
        for number, name in enumerate(self._names):
            default = self._signature[name].default
            field = Field(
                ... if default is inspect.Parameter.empty else default,
                alias=name,
                description=described.get(name),
            )
            # Numbered names keep a parameter called `json` or `schema` from hiding pydantic's own.
            fields[f"p{number}"] = (self._hints.get(name, Any), field)
        return create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments object."""
        schema = _without_titles(self._model.model_json_schema(by_alias=True))
        schema.setdefault("properties", {})
        return typing.cast("dict[str, Any]", schema)

    def effective(self, written: str | Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments that would run: validated, coerced, defaults filled in, as JSON.

        Raises:
            ToolError: telling the model what is wrong.
        """
        values = parsed(written) if isinstance(written, str) else dict(written)
        validated = self._validated(values)
        try:
            arguments = validated.model_dump(mode="json", by_alias=True)
        except ValueError as exc:  # pydantic's own among them
            raise ToolError("Invalid arguments: they cannot be shown") from exc
        if self._validated(arguments) != validated:
            raise ToolError("Invalid arguments: they would run as something else than they show")
        return arguments

    def bound(self, arguments: Mapping[str, Any], context: ExecutionContext) -> dict[str, Any]:
        """Return keyword arguments for the function from effective ones."""
        validated = self._validated(arguments)
        keywords = {name: getattr(validated, f"p{n}") for n, name in enumerate(self._names)}
        return keywords | dict.fromkeys(self.context_names, context)

    def _validated(self, values: Mapping[str, Any]) -> BaseModel:
        from pydantic import ValidationError

        try:
            return self._model.model_validate(values)
        except ValidationError as exc:
            problems = "; ".join(
                f"{'.'.join(map(str, error['loc'])) or 'arguments'}: {error['msg']}"
                for error in exc.errors(include_url=False, include_input=False)
            )
            raise ToolError(f"Invalid arguments: {problems}") from exc


def arguments_hash(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return the SHA-256 that binds an approval to a tool and its effective arguments."""
    text = json.dumps([tool, arguments], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def parsed(written: str) -> dict[str, Any]:
    """Return the object that a model wrote as arguments; nothing at all is an empty one.

    Raises:
        ToolError: if it is none.
    """
    try:
        values = json.loads(written) if written.strip() else None
    except (ValueError, RecursionError) as exc:
        raise ToolError(f"Invalid arguments: not JSON ({exc})") from exc
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ToolError("Invalid arguments: expected a JSON object")
    return values


def _described_parameters(function: Callable[..., Any]) -> dict[str, str | None]:
    from docstring_parser import parse

    parsed = parse(inspect.getdoc(function) or "")
    return {parameter.arg_name: parameter.description for parameter in parsed.params}


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: {name: _without_titles(value) for name, value in part.items()}
            if key in ("properties", "$defs")
            else _without_titles(part)
            for key, part in schema.items()
            if key != "title"
        }
    if isinstance(schema, list):
        return [_without_titles(part) for part in schema]
    return schema
