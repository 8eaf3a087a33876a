"""A stand-in for a model: a short table of rules that says what it is.

It understands nothing. It lets people see how the bot streams, remembers, asks for approval and
survives restarts, before they have a key for a real model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from bot.sandbox.model.conversation import Conversation, Outcome
from bot.sandbox.model.replies import Answer, Reply

WHO_I_AM = "I am a scripted stand-in, no AI model"

_HELP = f"""{WHO_I_AM}: I follow a few rules, so that you can try the bot without a key. Try:
- "my name is Alice", and later "what's my name?"
- "remember that the door code is 1234", and later "what is the door code?"
- "tell me a long story"
- "roll 2d6" or "what time is it?"
- "announce Dinner is ready in #announcements" (it asks for approval)
- 'use price {{"item": "pizza"}}', or any other tool that the bot has"""

_CHAPTER = (
    "Chapter {number}. The lighthouse keeper counted {number} ships, as on every "
    "evening, and wrote into the log what had happened: one line for each ship, none of them ever "
    "rubbed out. When the storm put out the lamp, nobody had to guess what had been done before. "
    "They read the log from the top, found the last line, and went on from there. A ship that "
    "asked for the harbour waited outside until the harbour master said yes, however long he "
    "slept, and when he said no, it turned around and did not ask again that night. "
)

_PROGRAM = """```python
def next_step(log):
    \"\"\"Everything there is to know is in the log.\"\"\"
    for line in reversed(log):
        if line.waits:
            return "wait"
    return "go on"
```"""

_SAYS: Mapping[str, str] = {
    "ok": "Done, {tool} says: {detail}",
    "denied": "I was not allowed to use {tool}: {detail} I will not try it again now.",
    "expired": "Nobody decided in time, so {tool} did not run. {detail}",
    "cancelled": "The request for {tool} was withdrawn, so it did not run. {detail}",
    "unknown": "I do not know whether {tool} did it: {detail} Please look before asking again.",
}
_SAYS_ELSE = "{tool} did not work: {detail}"

Rule = Callable[[Conversation, "re.Match[str]"], "Answer | str"]


class DemoModel:
    """Talks by the rules below, at a human pace.

    Args:
        delay: seconds between two words.
    """

    def __init__(self, *, delay: float = 0.03) -> None:
        self._delay = delay
        self._calls = 0

    def reply(self, request: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        """Answer the last message."""
        answer = answer_to(Conversation(request))
        answer.delay = self._delay
        answer.ids = [f"call_{self._calls + number}" for number in range(len(answer.calls))]
        self._calls += len(answer.calls)
        return answer


def answer_to(talk: Conversation) -> Answer:
    """Answer by what the tools said, else by the first rule that fits."""
    if talk.summarises:
        return Answer(_summary(talk))
    if talk.outcomes:
        return Answer("\n".join(_told(outcome) for outcome in talk.outcomes))
    for pattern, rule in RULES:
        if match := pattern.search(talk.text):
            said = rule(talk, match)
            return Answer(said) if isinstance(said, str) else said
    return Answer(_anything(talk))


def _told(outcome: Outcome) -> str:
    sentence = _SAYS.get(outcome.status, _SAYS_ELSE)
    detail = outcome.detail or "nothing more was said."
    return sentence.format(tool=outcome.tool, detail=detail).strip()


def _announce(talk: Conversation, match: re.Match[str]) -> Answer | str:
    text, channel = match["text"].strip(" \"'“”:"), match["channel"]
    return _call(talk, "announce", {"channel": channel, "text": text})


def _roll(talk: Conversation, match: re.Match[str]) -> Answer | str:
    count, sides = int(match["count"] or 1), int(match["sides"] or 6)
    notation = f"{count}d{sides}"
    known = {"dice": notation, "notation": notation, "count": count, "sides": sides}
    wanted = talk.tools.get("roll_dice") or {"dice": {}}
    return _call(talk, "roll_dice", {name: known[name] for name in wanted if name in known})


def _time(talk: Conversation, _match: re.Match[str]) -> Answer | str:
    return _call(talk, "current_time", {})


def _use(talk: Conversation, match: re.Match[str]) -> Answer | str:
    try:
        arguments = json.loads(match["arguments"] or "{}")
    except ValueError:
        return f"For {match['tool']} I would need its arguments as JSON."
    return _call(talk, match["tool"], arguments)


def _call(talk: Conversation, tool: str, arguments: Mapping[str, Any]) -> Answer | str:
    if tool not in talk.tools:
        return f"For that I would need the tool {tool}, and I was not given it here."
    return Answer("", [(tool, arguments)])


def _summary(talk: Conversation, _match: re.Match[str] | None = None) -> str:
    """Write what was told in a form that is understood when it comes back."""
    lines = [f"{WHO_I_AM}; this is what I was told."]
    for speaker in talk.speakers.values():
        who = f"[from {speaker.shown_as or 'someone'} ({speaker.key})]"
        lines += [f"{who} My name is {speaker.name}."] if speaker.name else []
        lines += [
            f"{who} Remember that {what} is {value}." for what, value in speaker.facts.items()
        ]
    return "\n".join(lines)


def _name(talk: Conversation, _match: re.Match[str]) -> str:
    speaker = talk.speaker
    if speaker.name:
        return f"You are {speaker.name}."
    if speaker.shown_as:
        return f"You have not told me your name. Discord calls you {speaker.shown_as}."
    return "You have not told me your name yet."


def _fact(talk: Conversation, match: re.Match[str]) -> str:
    what = match["what"].strip()
    value = talk.speaker.knows(what)
    yours = re.sub(r"(?i)^my ", "your ", what)
    if value is not None:
        return f"You told me: {yours} is {value}."
    return f"You have not told me what {yours} is. {WHO_I_AM}, so I know only what I am told."


def _introduced(talk: Conversation, _match: re.Match[str]) -> str:
    return f"Nice to meet you, {talk.speaker.called}. I will remember your name."


def _noted(_talk: Conversation, _match: re.Match[str]) -> str:
    return "I will remember that."


def _hello(talk: Conversation, _match: re.Match[str]) -> str:
    called = talk.speaker.called
    return f"Hello{', ' + called if called else ''}! {WHO_I_AM}. Say `help` for what I can do."


def _thanks(_talk: Conversation, _match: re.Match[str]) -> str:
    return "You are welcome."


def _help(_talk: Conversation, _match: re.Match[str]) -> str:
    return _HELP


def _story(_talk: Conversation, _match: re.Match[str]) -> str:
    chapters = [_CHAPTER.format(number=number) for number in range(1, 11)]
    chapters.insert(5, f"In the middle of the log somebody had drawn this:\n\n{_PROGRAM}\n\n")
    return "\n\n".join(chapter.strip() for chapter in chapters) + "\n\nThe end."


def _anything(talk: Conversation) -> str:
    said = talk.text if len(talk.text) <= 200 else talk.text[:200] + "..."
    return f"You said: {said}\n\n{WHO_I_AM}, so I can say little about it."


def _rule(pattern: str, rule: Rule) -> tuple[re.Pattern[str], Rule]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL), rule


RULES = (
    _rule(r"\A\W*use `?(?P<tool>\w+)`?\s*(?P<arguments>\{.*\})?\s*\Z", _use),
    _rule(r"\bsummar(?:y|ise|ize)\b", _summary),
    _rule(r"\bannounce (?P<text>.+?) (?:in|to|on) <?#(?P<channel>[\w-]+)>?", _announce),
    _rule(r"\broll\b.*?\b(?P<count>\d{0,3})d(?P<sides>\d{1,4})\b", _roll),
    _rule(r"\broll (?P<count>)(?P<sides>)(?:a|the|some) (?:die|dice)\b", _roll),
    _rule(r"\bwhat time is it|\bwhat(?:[\u2019']s| is) the time", _time),
    _rule(r"\b(?:what(?:[\u2019']s| is)|know|remember) my name|\bwho am i\b", _name),
    _rule(r"\bremember:? (?:that )?.+ (?:is|are) ", _noted),
    _rule(r"\bwhat(?:[\u2019']s| is| are| was) (?P<what>[^?]+)", _fact),
    _rule(r"(?-i:\b(?i:my name is|call me) \w|\A(?i:i am|i[\u2019']m) [A-Z]\w*\W*\Z)", _introduced),
    _rule(r"\A\W*my .+ (?:is|are) ", _noted),
    _rule(r"\blong (?:story|answer|text)|\btell me a story", _story),
    _rule(r"\bhelp\b|\bwhat can you do", _help),
    _rule(r"\bthank(?:s| you)\b", _thanks),
    _rule(r"\b(?:hello|hi|hey|good (?:morning|evening))\b", _hello),
)
"""The first pattern found in the text decides."""
