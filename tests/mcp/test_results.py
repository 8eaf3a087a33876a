"""What the model is told of every kind of content."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.types import CallToolResult

from bot import ToolError, ToolOutput
from bot.mcp.results import output


def result(*content: dict[str, Any], **more: Any) -> CallToolResult:
    return CallToolResult.model_validate({"content": content, **more})


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\n\nb"),
        ([], "done"),
        ([{"type": "resource", "resource": {"uri": "x:1", "text": "inside"}}], "inside"),
        ([{"type": "resource_link", "name": "here", "uri": "x:1"}], "here: x:1"),
        (
            [{"type": "audio", "data": "?", "mimeType": "audio/wav"}],
            "[a file of type audio/wav, which could not be read]",
        ),
        (
            [{"type": "image", "data": "é", "mimeType": "image/png"}],
            "[a file of type image/png, which could not be read]",
        ),
    ],
)
def test_content_of_every_kind_is_told(content: list[dict[str, Any]], text: str) -> None:
    assert output(result(*content)) == ToolOutput(text, ())


def test_images_and_blobs_are_files() -> None:
    image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    blob = {"type": "resource", "resource": {"uri": "x:1", "blob": "AQ=="}}
    made = output(result(image, blob))
    assert [(each.media_type, each.data) for each in made.files] == [
        ("image/png", b"\0"),
        ("application/octet-stream", b"\1"),
    ]


def test_an_error_without_words_is_told_as_one() -> None:
    with pytest.raises(ToolError, match="does not say why"):
        output(result(isError=True))
