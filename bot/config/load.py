"""Reading the settings, and telling everything that is wrong with them at once."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dotenv import dotenv_values
from pydantic import SecretStr, ValidationError

from bot.config.servers import read_servers
from bot.config.settings import Settings, env_name, env_names
from bot.errors import ConfigError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

ENV_FILE = Path(".env")
KEYLESS = frozenset({"openai_compatible", "ollama", "litellm"})
"""Services that may need no key."""
FAILPOINTS = "PARLEY_FAILPOINTS"
"""No setting: only the crash tests set it."""
HOMELESS = frozenset({"openai_compatible", "azure"})
"""Services whose address only the operator knows."""

_WRONG = {
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "literal_error": "must be {expected}",
    "greater_than": "must be above {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "value_error": "{error}",
}


def load_settings(
    env_file: Path | None = None, *, discord: bool = True, model: bool = True
) -> Settings:
    """Read all settings from the environment and a file.

    Args:
        env_file: Has to exist; by default `.env` in the working directory, if there is one.
        discord: Whether a bot's token is needed.
        model: Whether all that a model service needs is needed.

    Raises:
        ConfigError: names everything that is missing or wrong, and shows no secret.
    """
    path = _checked(env_file)
    settings, wrong = _read(path)
    lacking = _missing(settings, discord=discord, model=model)
    missing = {name: text for name, text in lacking if name not in wrong}
    problems = {**missing, **wrong}
    told = [problems[name] for name in Settings.model_fields if name in problems]
    if model:  # so that there is an agent, which may use tools
        settings._mcp_servers, of_servers = read_servers(settings.mcp_config, _variables(env_file))
        told += of_servers
    if told:
        raise ConfigError(*told)
    return settings


def unknown_names(env_file: Path | None = None) -> Sequence[str]:
    """Return the names in the file that are no settings: perhaps mistyped."""
    names = dotenv_values(_checked(env_file))
    return sorted(name for name in names if name.upper() not in env_names())


def child_environment(
    env_file: Path | None = None, *, keep: Collection[str] = (), values: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment for a process that has these settings and no others.

    What is no setting, in the file too, is handed on: files that name MCP servers may use it.

    Args:
        env_file: As for `load_settings`.
        keep: Fields whose value is handed on, if they are set here.
        values: The rest, by outside name; a value that is handed on wins.
    """
    others = {
        name: value
        for name, value in _variables(env_file).items()
        if name.upper() not in env_names()
    }
    here = _set_here(env_file) if keep else {}
    handed = {name: here[name] for name in map(env_name, keep) if name in here}
    return {**others, **values, **handed}


def is_set(field: str, env_file: Path | None = None) -> bool:
    """Return whether a setting has a value, right or wrong."""
    return given(field, env_file) is not None


def given(field: str, env_file: Path | None = None) -> str | None:
    """Return what a setting is set to, as it is written, right or wrong."""
    return _set_here(env_file).get(env_name(field))


def failpoints_folder() -> Path | None:
    """Return the folder from which a test watches this process, see `bot.failpoints`."""
    folder = os.environ.get(FAILPOINTS)
    return Path(folder) if folder else None


def _variables(env_file: Path | None) -> dict[str, str]:
    """Return all variables, settings or not, those of the file too."""
    of_file = dotenv_values(_checked(env_file))
    return {**{name: value for name, value in of_file.items() if value}, **os.environ}


def _set_here(env_file: Path | None) -> dict[str, str]:
    """Return every value that is set, by outside name."""
    found = {**dotenv_values(_checked(env_file)), **os.environ}
    if "MODEL" in found:
        found.setdefault("OPENAI_MODEL", found["MODEL"])
    return {name.upper(): value for name, value in found.items() if value}


def _checked(env_file: Path | None) -> Path:
    """Return the file to read, which can be read, or is `.env` and not there.

    Raises:
        ConfigError: if it is neither.
    """
    path = env_file or ENV_FILE
    try:
        path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if env_file is not None:
            raise ConfigError(f"there is no file {path}") from None
    except (OSError, UnicodeError) as exc:
        raise ConfigError(f"{path} cannot be read: {exc}") from None
    return path


def _read(path: Path) -> tuple[Settings, dict[str, str]]:
    """Return the settings, with defaults for what is wrong, and what is wrong by field."""
    try:
        return _settings(path), {}
    except ValidationError as exc:
        errors = exc.errors(include_url=False)
    wrong = {_field(error): _told(error) for error in errors}
    defaults = {name: Settings.model_fields[name].default for name in wrong}
    return _settings(path, **defaults), wrong


def _settings(path: Path, **values: Any) -> Settings:
    return Settings(_env_file=path, **values)  # type: ignore[call-arg]  # mypy does not see it


def _field(error: ErrorDetails) -> str:
    name = str(error["loc"][0]).lower()
    return "openai_model" if name == "model" else name


def _told(error: ErrorDetails) -> str:
    field = _field(error)
    sentence = _WRONG.get(error["type"])
    what = sentence.format(**error.get("ctx", {})) if sentence else error["msg"]
    about = Settings.model_fields[field]
    shown = "" if isinstance(about.default, SecretStr) else _shown(error)
    # Where every right value has been named, the description would name them once more.
    more = "" if error["type"] == "literal_error" else f" {about.description}"
    return f"{env_name(field)} {what}{shown}.{more}"


def _shown(error: ErrorDetails) -> str:
    """Say what was given, unless our own sentence does, or it may hold a password."""
    given = error["input"]
    return f", not {str(given)[:40]!r}" if error["type"] != "value_error" else ""


def _missing(settings: Settings, *, discord: bool, model: bool) -> Iterator[tuple[str, str]]:
    if discord:
        if not settings.discord_token.get_secret_value():
            yield _is_missing("discord_token")
        yield from _missing_of_shards(settings)
    if model:
        yield from _missing_of_model(settings)


def _missing_of_shards(settings: Settings) -> Iterator[tuple[str, str]]:
    if not settings.shard_ids:
        return
    if not settings.shard_count:
        yield _is_missing("shard_count")
    elif max(settings.shard_ids) >= settings.shard_count:
        last = settings.shard_count - 1
        yield "shard_ids", f"SHARD_IDS must be at most {last}, since SHARD_COUNT is {last + 1}."
    if not settings.database_url.get_secret_value():
        yield _is_missing("database_url")


def _missing_of_model(settings: Settings) -> Iterator[tuple[str, str]]:
    service = settings.service
    if service not in KEYLESS and not settings.openai_api_key.get_secret_value():
        yield _is_missing("openai_api_key")
    if service in HOMELESS and not settings.openai_base_url:
        yield _is_missing("openai_base_url")
    if service != "openai" and "openai_model" not in settings.model_fields_set:
        yield _is_missing("openai_model")


def _is_missing(field: str) -> tuple[str, str]:
    return field, f"{env_name(field)} is missing. {Settings.model_fields[field].description}"
