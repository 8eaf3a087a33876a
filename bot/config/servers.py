"""MCP servers: the file that names them, in the format that other programs read too.

Only what is used here is checked; what other programs keep in the file is left to them. `${NAME}`
and `${NAME:-default}` stand for variables of the environment or of `.env`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

MCP_FILE = Path("mcp.json")
"""Read where it exists, unless another file is named."""
VARIABLE = re.compile(r"\$\{(?:env:)?([^}:]+)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """What all servers have; nothing that may hold a secret is in its `repr`.

    Attributes:
        name: What the file calls it.
        timeout: Seconds that a call may take.
        trust_read_only: Whether its word is taken for which of its tools only read: they run
            unasked then.
    """

    name: str
    timeout: float = 60.0
    trust_read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioServer(McpServer):
    """A server that is a program, started here."""

    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer(McpServer):
    """A server at an address, by streamable HTTP."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class _Ours(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    trust_read_only: bool = Field(False, alias="trustReadOnly")
    timeout: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = 60.0


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True)

    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    type: Literal["stdio", "http", "streamable-http", "streamableHttp"] | None = None
    ours: _Ours = Field(_Ours.model_validate({}), alias="x-parley")


def read_servers(
    path: Path | None, variables: Mapping[str, str]
) -> tuple[Sequence[McpServer], Sequence[str]]:
    """Return the servers that a file names, in its order, and everything that is wrong with it.

    Args:
        path: `None`: no servers. The usual file need not exist.
        variables: What `${NAME}` can stand for; no value of them is shown.
    """
    if path is None or (path == MCP_FILE and not path.exists()):
        return (), ()
    try:
        entries = _entries(path)
    except ValueError as exc:
        return (), (f"{path}: {exc}",)
    servers, problems = [], []
    for name, entry in entries.items():
        found, wrong = _server(name, entry, variables)
        problems += [f"{path}: {name or 'a server'}: {problem}" for problem in wrong]
        servers += [found] if found is not None else []
    return servers, problems


def variables_of(path: Path | None) -> frozenset[str]:
    """Return the names of the variables that a file mentions, if it can be read."""
    try:
        text = path.read_text(encoding="utf-8-sig") if path is not None else ""
    except (OSError, UnicodeError):
        text = ""
    return frozenset(match[1] for match in VARIABLE.finditer(text))


def _entries(path: Path) -> dict[str, Any]:
    """Return what the file says of each server.

    Raises:
        ValueError: if it cannot be read at all.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as exc:
        raise ValueError(f"cannot be read: {exc.strerror}") from None
    except UnicodeError:
        raise ValueError("is not a text in UTF-8") from None
    except json.JSONDecodeError as exc:
        raise ValueError(f"is not JSON: {exc.msg} (line {exc.lineno})") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    entries = content.get("mcpServers") if isinstance(content, dict) else None
    if not isinstance(entries, dict):
        raise ValueError('needs "mcpServers": {"NAME": {"command": ...} or {"url": ...}}')
    return {name: entry for name, entry in entries.items() if not _is_disabled(entry)}


def _is_disabled(entry: object) -> bool:
    return isinstance(entry, dict) and entry.get("disabled") is True


def _server(
    name: str, written: object, variables: Mapping[str, str]
) -> tuple[McpServer | None, Sequence[str]]:
    if not name.strip():
        return None, ["needs a name"]
    missing: set[str] = set()
    try:
        entry = _Entry.model_validate(_expanded(written, variables, missing))
    except ValidationError as exc:
        return None, [_told(error["loc"], error["msg"]) for error in exc.errors()]
    wrong = [f"the variable {each} is not set" for each in sorted(missing)]
    if wrong := wrong or _contradictions(entry):
        return None, wrong
    return _made(name, entry), ()


def _made(name: str, entry: _Entry) -> McpServer:
    timeout, trust = entry.ours.timeout, entry.ours.trust_read_only
    if entry.url:
        return HttpServer(
            name=name,
            timeout=timeout,
            trust_read_only=trust,
            url=entry.url,
            headers=entry.headers,
        )
    return StdioServer(
        name=name,
        timeout=timeout,
        trust_read_only=trust,
        command=entry.command or "",
        args=tuple(entry.args),
        env=entry.env,
        cwd=entry.cwd,
    )


def _contradictions(entry: _Entry) -> list[str]:
    """Return what no single field is wrong about."""
    if not entry.command and not entry.url:
        return ["needs a command (a program) or a url (streamable HTTP)"]
    if entry.command and entry.url:
        return ["has a command and a url: it can be only one"]
    if entry.url and not re.match(r"https?://[^/\s]+", entry.url):
        return ["url must be an address like https://host/path"]
    if entry.type is not None and (entry.type == "stdio") != bool(entry.command):
        return [f"is of type {entry.type}, which goes with {_wanted(entry.type)}"]
    return []


def _wanted(kind: str) -> str:
    return "a command" if kind == "stdio" else "a url"


def _told(place: Sequence[int | str], message: str) -> str:
    """Return a problem without the value, which may be a secret."""
    if place == ("type",):
        message = "must be stdio or http; the older SSE transport is not supported"
    return f"{'.'.join(map(str, place))}: {message}" if place else "must be an object"


def _expanded(value: Any, variables: Mapping[str, str], missing: set[str]) -> Any:
    """Return a value with variables put in; the names of those that are not set are added."""

    def put_in(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        found = variables.get(name) or default
        if found is None:
            missing.add(name)
        return found or ""

    if isinstance(value, str):
        return VARIABLE.sub(put_in, value)
    if isinstance(value, list):
        return [_expanded(each, variables, missing) for each in value]
    if isinstance(value, dict):
        return {key: _expanded(each, variables, missing) for key, each in value.items()}
    return value
