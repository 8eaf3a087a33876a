"""Every setting: its kind, its default, and the line that `.env.example` says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, PrivateAttr, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.config.kinds import (
    DEFAULT_TOOLS,
    Count,
    DatabaseFile,
    Extras,
    Id,
    Ids,
    LogLevel,
    McpFile,
    Names,
    PostgresUrl,
    ProviderName,
    RoleTokens,
    Seconds,
    Secret,
    ShardIds,
    TextFile,
    Tokens,
    Tools,
    Url,
)
from bot.config.servers import MCP_FILE, McpServer

NOBODY: frozenset[int] = frozenset()
NO_ROLES: Mapping[int, int] = {}


class Settings(BaseSettings):
    """All settings, checked; secrets stay out of its `repr`.

    A field's name in capitals is what it is called outside. An empty value counts as not set, and
    a variable of the environment wins over a line of the file.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_ignore_empty=True, populate_by_name=True
    )

    discord_token: Secret = Field(
        SecretStr(""), description="The bot's token: Discord's developer portal, page Bot."
    )
    openai_api_key: Secret = Field(
        SecretStr(""), description="The key of the model service; some local ones need none."
    )
    openai_model: str = Field(
        "gpt-5.4-mini",
        validation_alias=AliasChoices("OPENAI_MODEL", "MODEL"),
        description="The model's name (also read as MODEL).",
    )
    openai_base_url: Url | None = Field(
        None, description="The service's address up to /v1; empty: the one that PROVIDER has."
    )
    provider: ProviderName = Field(
        "auto",
        description="openai, openai_compatible, openrouter, ollama, gemini, anthropic, azure, "
        "litellm; auto: openai, or openai_compatible where OPENAI_BASE_URL is set.",
    )
    models: Names = Field(
        (),
        description="Further models of the service that servers may choose with /settings; empty: "
        "none.",
    )
    model_extras: Extras = Field(
        ("temperature", "top_p"),
        description="What servers may set too: temperature, top_p, frequency_penalty, "
        "presence_penalty, max_tokens; or none.",
    )
    model_sees_images: bool = Field(
        True, description="Whether the model reads images; false: it is told their names only."
    )
    model_idle_seconds: Seconds = Field(
        300, description="How long the service may send nothing before a call has failed."
    )
    model_calls_at_once: Count = Field(
        20, description="How many calls of the model may run at the same time in this process."
    )
    max_steps: Count = Field(25, description="How many calls of the model one message may lead to.")
    context_window: Annotated[int, Field(ge=0, le=100_000_000)] = Field(
        0,
        description="How many tokens the model reads; 0: asked of the service, known, or 32768.",
    )
    compact_at: Annotated[float, Field(ge=0.1, le=0.95)] = Field(
        0.75,
        description="The share of them from which on what is older is summarised.",
    )
    system_prompt: str = Field(
        "You are Parley, a helpful assistant in a Discord server. Be concise.",
        description="What the model is told of its task.",
    )
    system_prompt_file: TextFile | None = Field(
        None, description="A text file to read in place of SYSTEM_PROMPT."
    )
    tools: Tools = Field(
        DEFAULT_TOOLS,
        description="The tools it may use: current_time, roll_dice, fetch_page (reads web pages; "
        "asks unless a person wrote the address); in Discord, remember (only for who has turned "
        "/memory on), schedule (says something later), and, within what both it and who asks may "
        "do, read_messages, search_messages and, after an approval, announce, post_message, "
        "start_thread, pin_message, make_poll, create_event, time_out_member; your own as "
        "my_tools.py or package.module; or none.",
    )
    mcp_config: McpFile = Field(
        MCP_FILE,
        description="A file that names MCP servers, whose tools it may use too; or none.",
    )
    database: DatabaseFile = Field(
        Path("parley.db"), description="The file that keeps all conversations."
    )
    database_url: PostgresUrl = Field(
        SecretStr(""),
        description="A PostgreSQL database that keeps them in place of the file: "
        "postgresql://user:password@host/database.",
    )
    shard_count: Annotated[int, Field(ge=0, le=100_000)] = Field(
        0, description="Into how many shards Discord is divided; 0: as many as Discord recommends."
    )
    shard_ids: ShardIds = Field(
        NOBODY,
        description="Which of them this process serves, such as 0-39,44; empty: all. Needs "
        "SHARD_COUNT and DATABASE_URL.",
    )
    owner_ids: Ids = Field(
        NOBODY, description="Users who own the bot, beside those whom Discord names as such."
    )
    allowed_servers: Ids = Field(
        NOBODY, description="Servers in which it answers; empty: all that it was invited to."
    )
    allowed_roles: Ids = Field(
        NOBODY, description="Roles that may talk to it; empty, with ALLOWED_USERS: everyone."
    )
    allowed_users: Ids = Field(
        NOBODY, description="Users who may talk to it, whatever their roles, in DMs too."
    )
    channels: Ids = Field(
        NOBODY, description="Channels in which it answers without being mentioned."
    )
    reply_mode: Literal["thread", "reply"] = Field(
        "thread", description="What a mention in a channel leads to: thread, or reply."
    )
    dms: Literal["nobody", "members", "everyone"] = Field(
        "members",
        description="Whose DMs are answered beside the owner's: nobody, members (of its servers, "
        "who may talk to it there), everyone.",
    )
    approver_roles: Ids = Field(
        NOBODY, description="Roles that may approve, beside people with Manage Server."
    )
    approver_users: Ids = Field(NOBODY, description="Users who may approve, in DMs too.")
    policy_file: TextFile | None = Field(
        None,
        description="A TOML file with rules for tools: free, own, ask or never, who may approve, "
        "by server; the README shows one.",
    )
    approvals_channel: Id | None = Field(
        None,
        description="A channel for requests, where its server names none with /settings; empty: "
        "each is asked where the conversation is.",
    )
    approval_hours: Annotated[float, Field(gt=0, le=24 * 365)] = Field(
        24, description="How long a request waits for a decision before it expires."
    )
    turns_per_minute: Count = Field(
        10,
        description="How many messages of one person are answered in a minute, by each process.",
    )
    user_tokens_per_day: Tokens = Field(
        0, description="How many tokens answers to one person may take in a day (UTC); 0: any."
    )
    user_tokens_per_month: Tokens = Field(0, description="The same for a month.")
    role_tokens_per_day: RoleTokens = Field(
        NO_ROLES,
        description="What people with a role have instead, as role:tokens, separated by commas; of "
        "several roles the one that gives most counts, 0: any.",
    )
    role_tokens_per_month: RoleTokens = Field(NO_ROLES, description="The same for a month.")
    server_tokens_per_day: Tokens = Field(
        0, description="How many tokens all people of a server have together in a day; 0: any."
    )
    server_tokens_per_month: Tokens = Field(0, description="The same for a month.")
    answer_buttons: bool = Field(
        True, description="Whether answers have buttons: try again, continue; true or false."
    )
    show_reasoning: bool = Field(
        False,
        description="Whether what a model tells of its reasoning is shown, folded, below its "
        "answer; true or false.",
    )
    catch_up_minutes: Annotated[float, Field(ge=0, le=60 * 24 * 7)] = Field(
        60,
        description="How old a message may be that is answered later, when the bot was away.",
    )
    session_max_days: Annotated[float, Field(ge=0, le=36500)] = Field(
        0, description="How many days after its beginning a conversation is deleted; 0: never."
    )
    session_idle_days: Annotated[float, Field(ge=0, le=36500)] = Field(
        0, description="How many days after the last message it is deleted; 0: never."
    )
    shutdown_seconds: Annotated[float, Field(ge=0, le=600)] = Field(
        20, description="How long answers may go on being written when the bot is stopped."
    )
    log_level: LogLevel = Field(
        "INFO", description="How much is logged: DEBUG, INFO, WARNING, ERROR."
    )
    metrics_port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        0, description="A port for /metrics (Prometheus) and /healthz; 0: none."
    )
    metrics_host: str = Field(
        "127.0.0.1",
        description="The address it is on; in a container 0.0.0.0, for others to reach it.",
    )
    discord_api_base: Url = Field(
        "https://discord.com/api/v10",
        description="Where Discord is; another address for a sandbox or a REST proxy.",
    )

    _mcp_servers: Sequence[McpServer] = PrivateAttr(())

    @property
    def mcp_servers(self) -> Sequence[McpServer]:
        """The servers that the file names, once `load_settings` has read it."""
        return self._mcp_servers

    @property
    def service(self) -> str:
        """The provider, also where `auto` stands for it."""
        if self.provider != "auto":
            return self.provider
        return "openai_compatible" if self.openai_base_url else "openai"

    @property
    def prompt(self) -> str:
        """The operator's part of the system prompt."""
        file = self.system_prompt_file
        return self.system_prompt if file is None else file.read_text(encoding="utf-8").strip()


def env_name(field: str) -> str:
    """Return what a field is called outside."""
    return field.upper()


def env_names() -> frozenset[str]:
    """Return all names that are read, second names too."""
    return frozenset({*map(env_name, Settings.model_fields), "MODEL"})
