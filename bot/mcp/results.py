"""What a server answers to a call, as the model is told it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bot.agent.tools import shortened
from bot.errors import ToolError

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock


def told(result: CallToolResult) -> str:
    """Return the text of a result; what has structure only is told as JSON.

    Raises:
        ToolError: if the server says that the call failed.
    """
    parts = [_text_of(block) for block in result.content]
    text = "\n\n".join(part for part in parts if part)
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    if result.is_error:
        raise ToolError(shortened(text) or "The tool failed and does not say why.")
    return text or "done"


def _text_of(block: ContentBlock) -> str:
    match block.type:
        case "text":
            return block.text
        case "resource":
            text = getattr(block.resource, "text", None)
            return text if text is not None else _file(block.resource.mime_type, "file")
        case "resource_link":
            return f"{block.name}: {block.uri}"
        case kind:
            return _file(block.mime_type, kind)


def _file(media_type: str | None, kind: str) -> str:
    return f"[{kind} of type {media_type or 'unknown'}, which cannot be shown here]"
