"""What a server answers to a call: a text for the model, and files for the people."""

from __future__ import annotations

import base64
import json
import mimetypes
from typing import TYPE_CHECKING

from bot.agent import File, ToolOutput
from bot.agent.tools import shortened
from bot.errors import ToolError

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock


def told(result: CallToolResult) -> ToolOutput:
    """Return a result; what has structure only is told as JSON.

    Raises:
        ToolError: if the server says that the call failed.
    """
    parts = [_part(block) for block in result.content]
    text = "\n\n".join(part for part in parts if isinstance(part, str) and part)
    files = [part for part in parts if isinstance(part, File)]
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    if result.is_error:
        raise ToolError(shortened(text) or "The tool failed and does not say why.")
    return ToolOutput(text or "done", files)


def _part(block: ContentBlock) -> str | File:
    match block.type:
        case "text":
            return block.text
        case "resource":
            text = getattr(block.resource, "text", None)
            data = getattr(block.resource, "blob", "")
            return text if text is not None else _file(data, block.resource.mime_type, "file")
        case "resource_link":
            return f"{block.name}: {block.uri}"
        case kind:
            return _file(block.data, block.mime_type, kind)


def _file(data: str, media_type: str | None, kind: str) -> str | File:
    try:
        content = base64.b64decode(data, validate=True)
    except ValueError:
        return f"[{kind} that cannot be read]"
    extension = mimetypes.guess_extension(media_type or "") or ".bin"
    return File(f"{kind}{extension}", content, media_type or "")
