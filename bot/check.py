"""Is everything the bot needs set up? One line each, and what to do about what is not."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from bot.agent.model.service import ModelAnswer, ModelRequest
from bot.config import Settings, load_settings, unknown_names, variables_of
from bot.errors import ConfigError, ModelError, OtherApplicationError, StorageError
from bot.joining.resources import make_provider, make_store
from bot.mcp import Patience, Server, Servers, open_servers
from bot.sessions.stores.applications import ApplicationStore
from bot.sessions.stores.marks import MarkStore

MESSAGE_CONTENT = 1 << 18 | 1 << 19
"""The application flags of a verified and of a small bot (reference, "Application Flags")."""
SCOPES = "bot+applications.commands"
PERMISSIONS = 1 << 10 | 1 << 11 | 1 << 15 | 1 << 16 | 1 << 35 | 1 << 38
"""View channels, send messages, attach files, read history, open threads and write in them."""
PATIENCE = 60.0
"""Seconds for each answer."""
TRY = Patience(start=PATIENCE)


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about one thing."""

    subject: str
    text: str
    ok: bool = True

    def __str__(self) -> str:
        return f"{'ok  ' if self.ok else 'FAIL'}  {self.subject:<13} {self.text}"


@dataclass(frozen=True, slots=True)
class Account:
    """What Discord tells of a token: its bot, application and servers, as it tells them."""

    bot: Any
    application: Any
    servers: Sequence[Any]

    @property
    def application_id(self) -> int:
        """The application's id."""
        return int(self.application["id"])


async def check(env_file: Path | None = None) -> int:
    """Print all findings; return 0 when all is well, 2 for wrong settings, 1 for the rest."""
    try:
        settings = load_settings(env_file)
    except ConfigError as exc:
        for problem in exc.problems:
            _print(Finding("settings", problem, ok=False))
        return 2
    _print(Finding("settings", _read_from(env_file, settings)))
    good = True
    async with aclosing(_findings(settings)) as findings:
        async for finding in findings:
            _print(finding)
            good = good and finding.ok
    return 0 if good else 1


async def _findings(settings: Settings) -> AsyncGenerator[Finding, None]:
    account = await ask_discord(settings)
    if isinstance(account, Finding):
        yield account
        yield await _database(settings)
    else:
        for finding in _discord(account):
            yield finding
        yield await _database(settings, account.application_id)
    yield await _model(settings)
    for finding in await _mcp(settings):
        yield finding


async def ask_discord(settings: Settings) -> Account | Finding:
    """Return what Discord tells of the token, or why it tells nothing."""
    headers = {"Authorization": f"Bot {settings.discord_token.get_secret_value()}"}
    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    try:
        async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
            get = _getter(session, settings.discord_api_base)
            me = await get("/users/@me")
            application = await get("/applications/@me")
            servers = await get("/users/@me/guilds")
    except aiohttp.ClientResponseError as exc:
        return Finding("token", _refused(exc.status), ok=False)
    except (aiohttp.ClientError, TimeoutError, ValueError) as exc:
        reason = str(exc) or "no answer"
        text = f"Discord cannot be reached at {settings.discord_api_base}: {reason}"
        return Finding("discord", text, ok=False)
    return Account(me, application, servers)


def _discord(account: Account) -> Sequence[Finding]:
    return [
        Finding("token", f"it is that of {account.bot['username']}"),
        _intents(account.application),
        _interactions(account.application),
        _servers(account.application, account.servers),
    ]


def _getter(session: aiohttp.ClientSession, base: str) -> Callable[[str], Awaitable[Any]]:
    async def get(path: str) -> Any:
        async with session.get(base.rstrip("/") + path, raise_for_status=True) as response:
            return await response.json()

    return get


def _refused(status: int) -> str:
    if status == 401:
        return "Discord refuses DISCORD_TOKEN: copy it again (developer portal, page Bot)"
    return f"Discord answers with status {status}: try again later"


def _intents(application: Any) -> Finding:
    if application.get("flags", 0) & MESSAGE_CONTENT:
        return Finding("intents", "Message Content is switched on")
    text = "switch on Message Content Intent (developer portal, page Bot)"
    return Finding("intents", text, ok=False)


def _interactions(application: Any) -> Finding:
    if not application.get("interactions_endpoint_url"):
        return Finding("interactions", "commands and clicks come to the bot")
    text = "empty the Interactions Endpoint URL (developer portal, page General Information)"
    return Finding("interactions", text, ok=False)


def _servers(application: Any, servers: Sequence[Any]) -> Finding:
    where = f"it is in {len(servers) or 'none'}"
    return Finding("servers", f"{where}; invite it: {invite_url(application['id'])}")


def invite_url(application_id: str) -> str:
    """Return the address at which somebody adds the bot to a server."""
    return (
        f"https://discord.com/oauth2/authorize?client_id={application_id}"
        f"&scope={SCOPES}&permissions={PERMISSIONS}"
    )


async def _database(settings: Settings, application_id: int | None = None) -> Finding:
    store = make_store(settings)
    served = bool(settings.database_url.get_secret_value())
    name, setting = (
        (store.database.name, "DATABASE_URL") if served else (settings.database, "DATABASE")
    )
    try:
        await MarkStore(store.database).set("checked", "")
        if application_id is not None:
            await ApplicationStore(store.database).check(application_id)
    except OtherApplicationError as exc:
        return Finding("database", str(exc), ok=False)
    except (ConfigError, StorageError) as exc:
        return Finding("database", f"cannot be written, set {setting}: {exc}", ok=False)
    finally:
        await store.close()
    return Finding("database", f"{name} can be written")


async def _model(settings: Settings) -> Finding:
    request = ModelRequest(messages=[{"role": "user", "content": "Say: ok"}])
    provider = make_provider(settings)
    name = f"{settings.openai_model} ({settings.service})"
    try:
        async with asyncio.timeout(PATIENCE), aclosing(provider.stream(request)) as events:
            answered = [event async for event in events if isinstance(event, ModelAnswer)]
    except (ConfigError, ModelError) as exc:
        return Finding("model", f"{name}: {exc}", ok=False)
    except TimeoutError:
        return Finding("model", f"{name} did not answer in {PATIENCE:.0f} seconds", ok=False)
    finally:
        await provider.close()
    return Finding("model", f"{name} answered", ok=bool(answered))


async def _mcp(settings: Settings) -> Sequence[Finding]:
    try:
        async with open_servers(settings.mcp_servers, TRY) as servers:
            return [_server(servers, each) for each in servers.servers]
    except ConfigError as exc:
        return [Finding("mcp", str(exc), ok=False)]


def _server(servers: Servers, server: Server) -> Finding:
    name = server.settings.name
    if server.problem:
        return Finding("mcp", f"{name}: {server.problem}", ok=False)
    tools = [tool for _, tool in sorted(servers.tools_of(server).items())]
    named = ", ".join(each.name if each.approval else f"{each.name} (free)" for each in tools)
    left_out = len(server.offered) - len(tools)
    rest = f"; not usable: {left_out}" if left_out else ""
    return Finding("mcp", f"{name}: {named or 'no tools'}{rest}")


def _read_from(env_file: Path | None, settings: Settings) -> str:
    used = variables_of(settings.mcp_config)
    unknown = [name for name in unknown_names(env_file) if name not in used]
    if not unknown:
        return "complete"
    return f"complete; the file also names {', '.join(unknown)}, which Parley does not know"


def _print(finding: Finding) -> None:
    sys.stdout.write(f"{finding}\n")
    sys.stdout.flush()
