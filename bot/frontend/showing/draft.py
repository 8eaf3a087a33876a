"""What a preview should show, and what it shows: from both follows what is to be written next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.agent.model.reasoning import Reasoning
from bot.frontend.rendering.markdown import Stream
from bot.frontend.showing.pacing import Kind
from bot.frontend.text import code
from bot.frontend.view.shown import Button, Key, Purpose, Shown, stop_id

STATUS = "status"  # the subject of a turn's status line
NAMED = 5  # tools in a status line


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The model call whose text is being written."""

    session_id: str
    turn_id: str
    name: str
    reply_to: str | None


@dataclass(frozen=True, slots=True)
class Due:
    """A message to be written; `begins` if it is the first text of an answer."""

    shown: Shown
    kind: Kind
    begins: bool


class Draft:
    """One growing text as messages; before there is any, a status line.

    The text begins in the message of the status line. A message that is full gets its last form
    in one edit and is not written again. Nothing here is in the log: see `Deliverer.preview`.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self._text = Stream()
        self._reasoning = Reasoning()
        self._status = ""
        self._written: dict[Key, Shown] = {}

    def add(self, chunk: str) -> None:
        """Let the text grow."""
        text = self._reasoning.add(chunk)
        if text is None:  # what was taken for the answer was reasoning
            self._text, text = Stream(), self._reasoning.answer
        self._text.add(text)

    def say(self, status: str) -> None:
        """Show this line for as long as there is no text; one that stands is replaced."""
        self._status = status

    def gave_way(self) -> None:
        """Forget the status line, which was taken away."""
        self._status = ""
        self._written.pop(self._status_key, None)

    def goes_on(self, subject: Subject) -> bool:
        """Begin another call of the same turn, if this one has no text."""
        begun = self._written.keys() - {self._status_key}
        if begun or self.has_text or self.subject.turn_id != subject.turn_id:
            return False
        self.subject = subject
        self._text, self._reasoning = Stream(), Reasoning()
        return True

    @property
    def has_text(self) -> bool:
        """Whether there is a text, on the screen or not."""
        return bool(self._text.preview())

    @property
    def says_something(self) -> bool:
        """Whether the status line is on the screen."""
        return self._status_key in self._written

    def due(self) -> Due | None:
        """Return what is to be written next: text that is not on the screen, then the buttons."""
        wanted = list(self._wanted())
        differing = [each for each in wanted if each != self._written.get(each.key)]
        if not differing:
            return None
        texts = (each for each in differing if each.content != self._content(each.key))
        shown = next(texts, differing[0])
        begins = shown.key == self._key(0) and shown.key not in self._written
        if shown.key in self._written or (begins and self.says_something):
            return Due(shown, Kind.EDIT, begins)
        # With its button also where more follows at once: should its id be lost with this
        # process, the button is what it is found by. A later edit takes it away.
        return Due(replace(shown, buttons=_stop(shown.key)), Kind.SEND, begins)

    def wrote(self, shown: Shown) -> None:
        """Note what is on the screen now."""
        if shown.key == self._key(0):
            self._written.pop(self._status_key, None)
        self._written[shown.key] = shown

    def _content(self, key: Key) -> str | None:
        written = self._written.get(key)
        return written.content if written else None

    def _wanted(self) -> Iterator[Shown]:
        parts = self._text.preview()
        for number, part in enumerate(parts):
            yield self._shown(self._key(number), part, stops=number == len(parts) - 1)
        if not parts and self._status:
            yield self._shown(self._status_key, self._status, stops=True)

    def _shown(self, key: Key, content: str, *, stops: bool) -> Shown:
        asked = self.subject.reply_to
        return Shown(
            key=key,
            content=content,
            buttons=_stop(key) if stops else (),
            reply_to=asked if key.part == 0 else None,
            asked=asked,
            final=False,
        )

    def _key(self, part: int) -> Key:
        return Key(self.subject.turn_id, self.subject.name, Purpose.ANSWER, part)

    @property
    def _status_key(self) -> Key:
        return status_key(self.subject.turn_id)


def status_key(turn_id: str) -> Key:
    """Return the key of a turn's status line."""
    return Key(turn_id, STATUS, Purpose.NOTICE)


def using(tools: Sequence[str]) -> str:
    """Return the status line while some tools are at work."""
    names = list(dict.fromkeys(code(each) for each in tools))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"-# Using {', '.join(names[:NAMED])}{more}…"


def _stop(key: Key) -> tuple[Button, ...]:
    return (Button("Stop", stop_id(key)),)
