"""Polls (reference, "Poll Resource"): asked and shown; nobody votes here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.sandbox.refusals.errors import Json
from bot.sandbox.refusals.forms import Form

LONGEST_QUESTION, LONGEST_ANSWER = 300, 55
MOST_ANSWERS = 10
MOST_HOURS = 32 * 24
DEFAULT_HOURS = 24
DEFAULT_LAYOUT = 1


@dataclass(frozen=True)
class Poll:
    """A question with answers to choose from."""

    question: str
    answers: list[Json]
    duration: timedelta
    multiselect: bool = False

    def payload(self, asked_at: datetime) -> Json:
        """Return the poll as a message carries it."""
        return {
            "question": {"text": self.question},
            "answers": [
                {"answer_id": number, "poll_media": media}
                for number, media in enumerate(self.answers, start=1)
            ],
            "expiry": (asked_at + self.duration).isoformat(),
            "allow_multiselect": self.multiselect,
            "layout_type": DEFAULT_LAYOUT,
            "results": {"is_finalized": False, "answer_counts": []},
        }


def checked_poll(body: Form) -> Poll | None:
    """Return the poll of a message; None when the body has none."""
    form = body.child("poll")
    if form is None:
        return None
    question = form.child("question")
    if question is None:
        form.wrong("BASE_TYPE_REQUIRED", "This field is required", "question")
    answers = form.children("answers", least=1, most=MOST_ANSWERS)
    if answers is None:
        form.wrong("BASE_TYPE_REQUIRED", "This field is required", "answers")
    hours = form.integer("duration", 1, MOST_HOURS)
    form.choice("layout_type", {DEFAULT_LAYOUT})
    asked = question.text("text", 1, LONGEST_QUESTION, required=True) if question else None
    return Poll(
        question=asked or "",
        answers=[_answer(each) for each in answers or []],
        duration=timedelta(hours=hours or DEFAULT_HOURS),
        multiselect=form.value("allow_multiselect", bool) or False,
    )


def _answer(form: Form) -> Json:
    media = form.child("poll_media")
    if media is None:
        form.wrong("BASE_TYPE_REQUIRED", "This field is required", "poll_media")
        return {}
    text = media.text("text", 1, LONGEST_ANSWER)
    emoji = media.child("emoji")
    if text is None and emoji is None:
        media.wrong("BASE_TYPE_REQUIRED", "This field is required", "text")
    shown = {"text": text, "emoji": emoji.body if emoji else None}
    return {key: value for key, value in shown.items() if value is not None}
