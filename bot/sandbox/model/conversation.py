"""What the stand-in reads from a request: who said what, and what of it is a fact."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_FROM = re.compile(r"\[from (?P<name>.+?)(?: \((?P<id>[^()]*)\))?\][ \t]*\n?")
_SENTENCE = re.compile(r"[^.!?\n]+")
_NAME = r"(?P<name>[\w'-]+(?: [A-Z][\w'-]+)*)"
_IS = r"(?P<what>.+?) (?:is|are) (?P<value>.+)"
_CALLED = (
    re.compile(rf"(?i:\bmy name is|\bcall me) {_NAME}"),
    re.compile(rf"(?i:^\W*i am|^\W*i[\u2019']m) (?=[A-Z]){_NAME}$"),
)
_FACTS = (
    re.compile(rf"\bremember:? (?:that )?{_IS}", re.IGNORECASE),
    re.compile(rf"^\W*(?=my (?!name)){_IS}", re.IGNORECASE),
)
_ENTRY = re.compile(r"^(?=\[from |User: )", re.MULTILINE)
_DATA = re.compile(r"\A[^\n]+\n\[data [0-9a-f]{16}\]\n")
_TASK = re.compile(r"\bsummari[sz]e\b", re.IGNORECASE)
_STATUS = re.compile(
    r"\A\W*(?:\w+\W+){0,4}?(denied|expired|cancelled|unknown|error|failed)\b", re.I
)


@dataclass(slots=True)
class Speaker:
    """Somebody who writes: the name they gave, else the one they are shown with."""

    shown_as: str = ""
    key: str = ""
    name: str = ""
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def called(self) -> str:
        """What to call them; empty when nobody said."""
        return self.name or self.shown_as

    def learn(self, text: str) -> None:
        """Note the name and the facts a text tells."""
        for sentence in (found[0].strip() for found in _SENTENCE.finditer(text)):
            for pattern in _CALLED:
                if match := pattern.search(sentence):
                    self.name = match["name"]
            fact = next(filter(None, (pattern.search(sentence) for pattern in _FACTS)), None)
            if fact:
                self.facts[_topic(fact["what"])] = fact["value"].strip()

    def knows(self, what: str) -> str | None:
        """Return what was told of something."""
        return self.facts.get(_topic(what))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a tool call: `status` is `ok`, `denied`, ... and `detail` the rest."""

    tool: str
    status: str
    detail: str


class Conversation:
    """A request's messages, read."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        messages = [message for message in request.get("messages") or () if message]
        self.speakers: dict[str, Speaker] = {}
        self.speaker = Speaker()
        self.text = ""
        self.summarises = any(
            message.get("role") == "system" and _TASK.match(_text(message.get("content")))
            for message in messages[:1]
        )
        self.tools = dict(_tools(request.get("tools") or ()))
        self.outcomes = list(_outcomes(messages))
        for message in messages:
            self._read(message)

    def _read(self, message: Mapping[str, Any]) -> None:
        text = _text(message.get("content"))
        if self.summarises or message.get("role") == "system" or _DATA.match(text):
            self._recall(text)
        elif message.get("role") == "user":
            who = _FROM.match(text)
            self.text = (text[who.end() :] if who else text).strip()
            self.speaker = self._speaker(who)
            self.speaker.learn(self.text)

    def _recall(self, told: str) -> None:
        """Learn from a summary that the stand-in wrote, or from a conversation told as a text."""
        for entry in _ENTRY.split(told):
            said = entry.partition("\n\n")[0]
            if who := _FROM.match(said):
                self._speaker(who).learn(said[who.end() :])
            elif said.startswith("User: "):
                self._speaker(None).learn(said.removeprefix("User: "))

    def _speaker(self, who: re.Match[str] | None) -> Speaker:
        if who is None:
            return self.speakers.setdefault("", Speaker())
        key = who["name"] if who["id"] is None else who["id"]
        speaker = self.speakers.setdefault(key, Speaker(key=key))
        speaker.shown_as = who["name"]
        return speaker


def _topic(what: str) -> str:
    return re.sub(r"^(?:my|the|a|an) ", "", " ".join(what.lower().split()))


def _text(content: object) -> str:
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _tools(tools: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for tool in tools:
        function = tool.get("function") or {}
        parameters = function.get("parameters") or {}
        yield str(function.get("name")), parameters.get("properties") or {}


def _outcomes(messages: list[Mapping[str, Any]]) -> Iterator[Outcome]:
    """Read the tool results that end the conversation."""
    results: list[Mapping[str, Any]] = []
    for message in reversed(messages):
        if message.get("role") != "tool":
            names = {call["id"]: call["function"]["name"] for call in message.get("tool_calls", ())}
            break
        results.insert(0, message)
    else:
        names = {}
    for result in results:
        tool = names.get(result.get("tool_call_id"), "the tool")
        yield Outcome(tool, *_outcome(_text(result.get("content"))))


def _outcome(content: str) -> tuple[str, str]:
    try:
        told = json.loads(content)
    except ValueError:
        told = None
    if isinstance(told, dict) and isinstance(told.get("status"), str):
        detail = told.get("reason") or told.get("output") or told.get("message") or ""
        return told["status"], str(detail)
    match = _STATUS.match(content)
    return (match[1].lower() if match else "ok"), content.strip()
