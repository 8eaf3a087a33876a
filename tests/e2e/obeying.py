"""The worst model there is: it does whatever any text tells it to, whoever wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from bot.sandbox.model import Answer

_ORDER = re.compile(r"CALL (\w+)(?: (\{.*\}))?")
_SAY = re.compile(r"SAY (.+)")

DONE = "I did all that I was told."


def obey(request: Mapping[str, Any]) -> Answer:
    """Make the first call that a text orders and that was not made yet; else say what it says."""
    messages = [each for each in request["messages"] if each["role"] != "system"]
    made = [
        (call["function"]["name"], call["function"]["arguments"])
        for message in messages
        for call in message.get("tool_calls", ())
    ]
    texts = [str(each["content"]) for each in messages if each["role"] != "assistant"]
    for order in (found for text in texts for found in _ORDER.finditer(text)):
        call = order[1], order[2] or "{}"
        if call not in made:
            return Answer("", [call])
    said = [found[1] for text in texts for found in _SAY.finditer(text)]
    return Answer(said[-1] if said else DONE)


def order(tool: str, **arguments: str) -> str:
    """Return a text that orders a call."""
    return f"CALL {tool} {json.dumps(arguments)}"
