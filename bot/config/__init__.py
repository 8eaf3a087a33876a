"""Settings: the only reader of environment variables and of `.env`."""

from bot.config.load import ENV_FILE, child_environment, is_set, load_settings, unknown_names
from bot.config.settings import Settings, env_name, env_names

__all__ = [
    "ENV_FILE",
    "Settings",
    "child_environment",
    "env_name",
    "env_names",
    "is_set",
    "load_settings",
    "unknown_names",
]
