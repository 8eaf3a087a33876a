"""What a server answers to a call, as the model is told it and people are shown it."""

from __future__ import annotations

import base64
import json
import mimetypes
from typing import TYPE_CHECKING

from bot.agent.tools.outputs import File, ToolOutput
from bot.agent.tools.tool import shortened
from bot.errors import ToolError

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock


def output(result: CallToolResult) -> ToolOutput:
    """Return the text of a result and its files; what has structure only is told as JSON.

    Raises:
        ToolError: if the server says that the call failed.
    """
    parts = [_part(block) for block in result.content]
    files = tuple(part for part in parts if isinstance(part, File))
    text = "\n\n".join(part for part in parts if isinstance(part, str) and part)
    if not text and not files and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    if result.is_error:
        raise ToolError(shortened(text) or "The tool failed and does not say why.")
    return ToolOutput(text or "done", files)


def _part(block: ContentBlock) -> str | File:
    match block.type:
        case "text":
            return block.text
        case "resource":
            resource = block.resource
            text = getattr(resource, "text", None)
            if text is not None:
                return str(text)
            return _file(getattr(resource, "blob", ""), resource.mime_type, str(resource.uri))
        case "resource_link":
            return f"{block.name}: {block.uri}"
        case kind:
            return _file(block.data, block.mime_type, kind)


def _file(data: str, media_type: str | None, name: str) -> str | File:
    kind = media_type or "application/octet-stream"
    try:
        content = base64.b64decode(data, validate=True)
    except ValueError:
        return f"[a file of type {kind}, which could not be read]"
    has_ending = "." in name.rpartition("/")[2]
    return File(
        name if has_ending else f"{name}{mimetypes.guess_extension(kind) or ''}", content, kind
    )
