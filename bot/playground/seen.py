"""What people see, printed like a chat."""

from __future__ import annotations

import re
import sys
import textwrap
import time

from bot.sandbox import Answer, Message, Person, Place, World

_TIME = re.compile(r"<t:(\d+):R>")
WIDTH = 100


class Seen:
    """Prints what happens, with a headline whenever the place changes."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._place: Place | None = None

    def note(self, text: str) -> None:
        """Print something that is not said in the world."""
        _print(f"\n{text.rstrip()}")

    def message(self, message: Message) -> None:
        """Print a message as it is now, with its buttons."""
        buttons = "".join(f"  [{button.get('label')}]" for button in message.buttons)
        self._line(message.place, message.author.name, f"{message.content}\n{buttons}")

    def writing(self, message: Message) -> None:
        """Print how far a message has come that is being written."""
        text = message.content.replace("\n", " ")
        self._line(message.place, f"{message.author.name} (writing)", _shortened(text))

    def action(self, person: Person, does: str, place: Place) -> None:
        """Print what somebody does."""
        self._enter(place)
        _print(f"  * {person.name} {does}")

    def answer(self, person: Person, answer: Answer) -> None:
        """Print what came of it."""
        alone = f", to {person.name} alone" if answer.ephemeral else ""
        place = answer.interaction.place
        self._line(place, f"{answer.interaction.bot.name}{alone}", answer.text)

    def _line(self, place: Place, who: str, text: str) -> None:
        self._enter(place)
        first, *rest = self._readable(text).rstrip().split("\n")
        _print(f"  {who}: {first}")
        for line in rest:
            _print(textwrap.fill(line, WIDTH, initial_indent="    ", subsequent_indent="    "))

    def _enter(self, place: Place) -> None:
        if place is not self._place:
            _print(f"\n#{place.name}")
            self._place = place

    def _readable(self, text: str) -> str:
        """Return a text with mentions and times as Discord shows them."""
        for user in self._world.users.values():
            text = text.replace(user.mention, f"@{user.name}")
        return _TIME.sub(lambda found: _in_hours(int(found[1])), text)


def _in_hours(at: int) -> str:
    ahead = at - time.time()
    return f"in {ahead / 3600:.0f} hours" if ahead > 0 else "just now"


def _shortened(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 30]} ... ({len(text)} characters)"


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
