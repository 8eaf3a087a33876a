"""Logging to standard error: for people, or one JSON object a line for programs."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

logger = logging.getLogger(__name__)

LogFormat = Literal["text", "json"]
TEXT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


class JsonFormatter(logging.Formatter):
    """One line a record: `time` (ISO 8601, UTC), `level`, `logger`, `message`, `exception`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = self.formatStack(record.stack_info)
        return json.dumps(line, ensure_ascii=False)


def log_to_stderr(level: str, form: LogFormat = "text") -> None:
    """Log ours at this level, and of others what matters: they would log what people write."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else logging.Formatter(TEXT))
    logging.basicConfig(handlers=[handler])
    logging.getLogger("bot").setLevel(level)
    logging.getLogger("discord").setLevel(max(logging.INFO, logging.getLevelName(level)))
    logging.getLogger("discord.client").addFilter(_is_not_about_voice)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it would log all that servers print


def log_last(texts: Sequence[str], form: LogFormat) -> None:
    """Log why the process ends, which may be before anything was to be logged."""
    log_to_stderr("ERROR", form)
    for text in texts:
        logger.critical(text)


def _is_not_about_voice(record: logging.LogRecord) -> bool:
    """Whether it is not the advice to install what only voice needs."""
    return "voice will NOT be supported" not in str(record.msg)
