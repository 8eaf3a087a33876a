"""One request of the page to do something, and what it is about."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.sandbox.page import message_views
from bot.sandbox.people.person import Person
from bot.sandbox.posting.drafts import File
from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources.channels import Place
from bot.sandbox.resources.messages import Message
from bot.sandbox.resources.modals import Modal


@dataclass(frozen=True)
class Visit:
    """One thing that a visitor wants to do, as one of the people."""

    person: Person
    body: Json
    files: dict[str, File] = field(default_factory=dict)

    def text(self, key: str) -> str:
        """Return a text of the request."""
        return str(self.body[key])

    @property
    def place(self) -> Place:
        """Where it is done."""
        return self.place_named("place")

    def place_named(self, key: str) -> Place:
        """Return another place that the person sees."""
        found = self.person.world.places.get(int(self.text(key)))
        if found is None or not found.seen_by(self.person):
            raise LookupError("that place is gone")
        return found

    @property
    def message(self) -> Message:
        """The message that it is done to."""
        return self.message_named("message")

    def message_named(self, key: str) -> Message:
        """Return a message that the person sees here."""
        number = int(self.text(key))
        for each in reversed(message_views.visible(self.person, self.place)):
            if each.id == number:
                return each
        raise LookupError("that message is gone")

    @property
    def modal(self) -> Modal:
        """The form on the person's screen."""
        for each in self.person.world.interactions.values():
            if str(each.id) == self.text("modal") and each.modal is not None:
                return each.modal
        raise LookupError("that form is gone")
