"""Tools: plain functions that a model may call."""

from __future__ import annotations

import inspect
import json
import logging
import re
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
)
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property, update_wrapper
from typing import Any, Protocol, cast, overload, runtime_checkable

from bot.agent.approvers import Approvers
from bot.agent.arguments import FunctionParameters, Parameters
from bot.agent.context import ExecutionContext
from bot.agent.tools.outputs import ToolOutput
from bot.agent.tools.threads import in_daemon_thread
from bot.errors import ToolError
from bot.sessions import Session

logger = logging.getLogger(__name__)

Approval = (
    bool
    | Callable[[Mapping[str, Any]], bool]
    | Callable[[Mapping[str, Any], Session], bool]  # it looks into the log, and at nothing else
)

Check = Callable[[Mapping[str, Any], ExecutionContext], Awaitable[None]]
Sentence = Callable[[Mapping[str, Any]], str]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

MAX_OUTPUT = 100_000
"""Characters of a result that the model is told; what is longer is cut, and the cut is told."""


@dataclass(eq=False)
class Tool:
    """A function with what the model and the loop need to know of it.

    Attributes:
        function: Sync (run in a thread) or async; called with validated arguments.
        name: What the model calls it.
        description: What the model is told it does; the docstring's text.
        approval: Whether a human must say yes: always, never, or by the effective arguments, and
            by what has been said if the function takes the session as well.
        approvers: Who may say yes; by default whoever may anyway.
        timeout: Seconds it may take.
        idempotent: Whether a call whose outcome is unknown may simply run again.
        check: Raises `ToolError` where whoever asks may not have this done; asked with the
            effective arguments before a human is asked for a yes, and again before it starts.
        sentence: Says plainly, from the effective arguments, what a call will do. What others
            wrote is in it only where nothing in it can pass for markup.
        approvers: Who may approve a call, where that is not left to the policy.
        accepts: What it takes; by default what the function's signature says.
    """

    function: Callable[..., Any]
    name: str
    description: str = ""
    approval: Approval = False
    timeout: float = 60.0
    idempotent: bool = False
    check: Check | None = None
    sentence: Sentence | None = None
    approvers: Approvers | None = None
    accepts: InitVar[Parameters | None] = None
    parameters: Parameters = field(init=False)
    _gate: Callable[[Mapping[str, Any], Session], bool] = field(init=False)

    def __post_init__(self, accepts: Parameters | None) -> None:
        if inspect.iscoroutinefunction(self.approval):
            raise TypeError("whether a call needs approval is decided by a plain function")
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", self.name):
            raise ValueError(
                f"a tool's name is 1 to 64 letters, digits, - and _, not {self.name!r}"
            )
        self.parameters = accepts or FunctionParameters(self.function)
        self._gate = _gate(self.approval)
        update_wrapper(self, self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as if it were not a tool."""
        return self.function(*args, **kwargs)

    @cached_property
    def definition(self) -> dict[str, Any]:
        """What the model is told, in the shape of the Chat Completions API."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters.schema,
        }
        return {"type": "function", "function": function}

    @property
    def is_defined(self) -> bool:
        """Whether the definition was made before."""
        return "definition" in self.__dict__

    def is_gated(self, arguments: Mapping[str, Any], session: Session) -> bool:
        """Return whether a call with these effective arguments needs a human's yes there."""
        try:
            return bool(self._gate(arguments, session))
        except Exception:
            logger.exception("the approval predicate of tool %s failed; asking", self.name)
            return True

    def says(self, arguments: Mapping[str, Any]) -> str:
        """Return what a call with these effective arguments will do, if the tool can tell."""
        try:
            return self.sentence(arguments) if self.sentence is not None else ""
        except Exception:
            logger.exception("the sentence of tool %s failed", self.name)
            return ""

    async def invoke(self, arguments: Mapping[str, Any], context: ExecutionContext) -> ToolOutput:
        """Run the function and return its result: a text for the model, and files.

        Raises:
            ToolError: when the result cannot be told.
            Exception: whatever the function raises.
        """
        keywords = self.parameters.bound(arguments, context)
        if inspect.iscoroutinefunction(self.function):
            result = await self.function(**keywords)
        else:
            result = await in_daemon_thread(lambda: self._called(keywords), name=self.name)
            if inspect.isawaitable(result):  # of an async function behind a plain one
                result = await result
        if isinstance(result, ToolOutput):
            text = await self._text(result.text or None)
            return replace(result, text=text)
        return ToolOutput(await self._text(result))

    async def _text(self, result: Any) -> str:
        """Return a result as the model is told it; what is no text is made one in a thread."""
        if isinstance(result, str):
            return shortened(result)
        return await in_daemon_thread(lambda: shortened(as_text(result)), name=self.name)

    def _called(self, keywords: Mapping[str, Any]) -> Any:
        """Return what the function returns, made into text here and not on the event loop."""
        result = self.function(**keywords)
        is_ready = inspect.isawaitable(result) or isinstance(result, ToolOutput)
        return result if is_ready else as_text(result)


class ToolSource(Protocol):
    """Tools that come and go while the agent runs."""

    def tools(self, taken: Collection[str]) -> Mapping[str, Tool]:
        """Return those that there are now, by names that are not in `taken`, in a stable order.

        Asked at every step, so it takes no time. A name means the same tool for as long as
        `taken` is the same, over restarts too: requests that wait for an approval go by it.
        """
        ...


@runtime_checkable
class LateToolSource(ToolSource, Protocol):
    """A source whose tools may be late after a start: calls that need one wait for it."""

    async def arrived(self, name: str) -> None:
        """Return once it is known whether there is a tool of this name, in bounded time."""
        ...


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    approval: Approval = False,
    timeout: float = 60.0,
    idempotent: bool = False,
    check: Check | None = None,
    sentence: Sentence | None = None,
    approvers: Approvers | str | Iterable[str] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    approval: Approval = False,
    timeout: float = 60.0,
    idempotent: bool = False,
    check: Check | None = None,
    sentence: Sentence | None = None,
    approvers: Approvers | str | Iterable[str] | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a function a tool; usable bare or with settings.

    The schema comes from the signature and the docstring. A parameter annotated
    `ExecutionContext` is filled in and not shown to the model. `approvers` may be said in words:
    ``requester``, ``moderator``, ``owner``, ``role:ID``, ``user:ID`` and ``two_person``, which is
    somebody else than who asked.
    """
    named = approvers if isinstance(approvers, Approvers | None) else Approvers.of(approvers)

    def made(function: Callable[..., Any]) -> Tool:
        return Tool(
            function,
            name=name or str(getattr(function, "__name__", "")),
            description=_described(function),
            approval=approval,
            timeout=timeout,
            idempotent=idempotent,
            check=check,
            sentence=sentence,
            approvers=named,
        )

    return made(function) if function is not None else made


def as_tool(function: Tool | Callable[..., Any]) -> Tool:
    """Return a tool as it is, and any other function made into a free one."""
    return function if isinstance(function, Tool) else tool(function)


def as_text(result: Any) -> str:
    """Return a tool's result as the model is told it: text as it is, the rest as JSON."""
    if isinstance(result, str):
        return result
    if result is None:
        return "done"
    from pydantic_core import PydanticSerializationError

    try:
        # Not `dumps`: however long the result, others get Python's lock in between.
        encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_jsonable)
        try:
            return "".join(encoder.iterencode(result))
        except TypeError:  # keys of a kind that only pydantic knows
            return json.dumps(_jsonable(result), ensure_ascii=False, allow_nan=False)
    except (PydanticSerializationError, TypeError, ValueError, RecursionError) as exc:
        kind = type(result).__name__
        raise ToolError(f"The tool ran, but its result ({kind}) is not JSON.") from exc


def _jsonable(value: Any) -> Any:
    from pydantic_core import to_jsonable_python

    if isinstance(value, Iterator | AsyncIterator):
        raise TypeError("it may never end")
    return to_jsonable_python(value)


def shortened(text: str) -> str:
    """Return the text, cut where it is longer than a model should be told."""
    if len(text) <= MAX_OUTPUT:
        return text
    return f"{text[:MAX_OUTPUT]}\n[cut here: {len(text):,} characters in all]"


def _gate(approval: Approval) -> Callable[[Mapping[str, Any], Session], bool]:
    """Return the predicate of a tool, whichever of its forms it was given in."""
    if isinstance(approval, bool):
        return lambda arguments, session: approval
    if _takes_two(approval):
        return cast("Callable[[Mapping[str, Any], Session], bool]", approval)
    of_arguments = cast("Callable[[Mapping[str, Any]], bool]", approval)
    return lambda arguments, session: of_arguments(arguments)


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some that are written in C do not tell
        return False
    wanted = [p for p in parameters if p.default is p.empty and p.kind in _POSITIONAL]
    return len(wanted) > 1


def _described(function: Callable[..., Any]) -> str:
    from docstring_parser import parse

    parsed = parse(inspect.getdoc(function) or "")
    parts = (parsed.short_description, parsed.long_description)
    return "\n\n".join(part for part in parts if part)
