"""Settings: the only reader of environment variables and of `.env`."""

from bot.config.kinds import DEFAULT_TOOLS, SHIPPED
from bot.config.load import (
    ENV_FILE,
    child_environment,
    failpoints_folder,
    given,
    is_set,
    load_settings,
    unknown_names,
)
from bot.config.servers import MCP_FILE, HttpServer, McpServer, StdioServer, variables_of
from bot.config.settings import Settings, env_name, env_names

__all__ = [
    "DEFAULT_TOOLS",
    "ENV_FILE",
    "MCP_FILE",
    "SHIPPED",
    "HttpServer",
    "McpServer",
    "Settings",
    "StdioServer",
    "child_environment",
    "env_name",
    "env_names",
    "failpoints_folder",
    "given",
    "is_set",
    "load_settings",
    "unknown_names",
    "variables_of",
]
