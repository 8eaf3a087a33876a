"""The kinds of values that settings have, and what is wrong with one that is not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from bot.addresses import WELL_WRITTEN, is_well_written

ProviderName = Literal[
    "auto",
    "openai",
    "openai_compatible",
    "openrouter",
    "ollama",
    "gemini",
    "anthropic",
    "azure",
    "litellm",
]
ToolName = Literal[
    "current_time",
    "roll_dice",
    "fetch_page",
    "remember",
    "schedule",
    "read_messages",
    "search_messages",
    "announce",
    "post_message",
    "start_thread",
    "pin_message",
    "make_poll",
    "create_event",
    "time_out_member",
]
SHIPPED = frozenset(get_args(ToolName))
ExtraName = Literal["temperature", "top_p", "frequency_penalty", "presence_penalty", "max_tokens"]
DEFAULT_TOOLS = ("current_time", "roll_dice", "remember", "schedule")


def _split(value: object) -> object:
    return value.replace(",", " ").split() if isinstance(value, str) else value


def _ids(value: object) -> object:
    for each in value.replace(",", " ").split() if isinstance(value, str) else ():
        if not (each.isascii() and each.isdigit() and 0 < int(each) < 1 << 64):
            raise ValueError(
                "must be ids: long numbers, separated by commas, that Discord shows as Copy ID "
                f"in its developer mode; {each[:40]!r} is none"
            )
    return _split(value)


def _shards(value: object) -> object:
    if not isinstance(value, str):
        return value
    return {number for each in value.replace(",", " ").split() for number in _range(each)}


def _range(text: str) -> range:
    """Return the numbers that `5`, or `0-39`, stands for."""
    found = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", text, re.ASCII)
    numbers = range(int(found[1]), int(found[2] or found[1]) + 1) if found else range(0)
    if not numbers:
        raise ValueError(f"must be numbers from 0 or ranges such as 0-39, not {text[:40]!r}")
    return numbers


def _role_tokens(value: object) -> object:
    if not isinstance(value, str):
        return value
    pairs = [each.partition(":")[::2] for each in value.replace(",", " ").split()]
    for role, tokens in pairs:
        _ids(role)
        if not (role and tokens.isascii() and tokens.isdigit()):
            raise ValueError(
                "must be roles with their tokens, such as 123456789012345678:50000, separated by "
                f"commas; {role[:40]!r} has none"
            )
    return {int(role): int(tokens) for role, tokens in pairs}


def _id(value: object) -> object:
    found = _ids(value)
    if isinstance(found, list) and len(found) != 1:
        raise ValueError("must be one id")
    return found[0] if isinstance(found, list) else found


def _none(value: object) -> object:
    return () if value == "none" else _split(value)


def _tool(name: str) -> str:
    """A shipped tool, a file, or a module: a module of one word is rather a mistyped tool."""
    is_module = "." in name and all(each.isidentifier() for each in name.split("."))
    if not (name in SHIPPED or name.endswith(".py") or is_module):
        shipped = ", ".join(sorted(SHIPPED))
        raise ValueError(
            f"must be shipped tools ({shipped}), my_tools.py or package.module, not {name[:40]!r}"
        )
    return name


def _no_file(value: object) -> object:
    return None if value == "none" else value


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _http(url: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError("must be an address like https://host/path")
    return url


def _readable(path: Path) -> Path:
    try:
        path.read_text(encoding="utf-8")
    except OSError as exc:
        raise ValueError(f"cannot be read: {exc.strerror}") from None
    except UnicodeError:
        raise ValueError("cannot be read: it is not a text in UTF-8") from None
    return path


def _file(path: Path) -> Path:
    if ":/" in str(path):
        raise ValueError("must be the path of a file; DATABASE_URL is for a PostgreSQL database")
    if str(path) == ":memory:" or path.is_dir():
        raise ValueError("must be the path of a file")
    return path


def _copied_well(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("holds characters that no token or key has: copy it again")
    if text.startswith(("'", '"')):  # docker run --env-file hands quotes on
        raise ValueError("stands in quotes, which are taken for a part of it: leave them out")
    return secret


def _postgres(address: SecretStr) -> SecretStr:
    text = address.get_secret_value()
    if text and not is_well_written(text):
        raise ValueError(WELL_WRITTEN)
    return address


Secret = Annotated[SecretStr, AfterValidator(_copied_well)]
PostgresUrl = Annotated[SecretStr, AfterValidator(_postgres), AfterValidator(_copied_well)]
Ids = Annotated[frozenset[int], NoDecode, BeforeValidator(_ids)]
ShardIds = Annotated[frozenset[int], NoDecode, BeforeValidator(_shards)]
Id = Annotated[int, BeforeValidator(_id)]
Tools = Annotated[
    tuple[Annotated[str, AfterValidator(_tool)], ...], NoDecode, BeforeValidator(_none)
]
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
Extras = Annotated[tuple[ExtraName, ...], NoDecode, BeforeValidator(_none)]
Tokens = Annotated[int, Field(ge=0, le=10**12)]
RoleTokens = Annotated[Mapping[int, Tokens], NoDecode, BeforeValidator(_role_tokens)]
Url = Annotated[str, AfterValidator(_http)]
McpFile = Annotated[Path | None, BeforeValidator(_no_file)]
TextFile = Annotated[Path, AfterValidator(_readable)]
DatabaseFile = Annotated[Path, AfterValidator(_file)]
LogLevel = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
