"""What the scripted service refuses of a message's content."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from bot.sandbox.model import images
from bot.sandbox.model.contents import problems

PNG = b"\x89PNG\r\n\x1a\nrest"


def user(content: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}]}


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


GOOD = image(f"data:image/png;base64,{base64.b64encode(PNG).decode()}")


@pytest.mark.parametrize(
    "request_",
    [
        user("hi"),
        user([{"type": "text", "text": "hi"}, GOOD]),
        user([image("https://example.org/a.png")]),
        {"messages": [{"role": "assistant", "content": None}]},
    ],
)
def test_what_is_well_formed_is_taken(request_: dict[str, Any]) -> None:
    assert problems(request_) == []


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"messages": []},
        {"messages": [None]},
        {"messages": [{"role": "bot", "content": "hi"}]},
        {"messages": [{"role": "assistant", "content": [GOOD]}]},
        user(None),
        user([]),
        user([{"type": "text", "text": ""}]),
        user([{"type": "blob", "sha256": "0"}]),
        user([image("data:image/svg;base64,AAAA")]),
        user([image("data:image/png;base64,AA=A")]),
        user([image("data:image/jpeg;base64,AAAA")]),
    ],
)
def test_what_a_service_refuses_is_refused(request_: dict[str, Any]) -> None:
    assert len(problems(request_)) == 1


def test_a_test_sees_the_images() -> None:
    assert images(user([{"type": "text", "text": "hi"}, GOOD])) == [PNG]
    assert images(user("hi")) == []
