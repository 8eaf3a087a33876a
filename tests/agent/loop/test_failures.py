"""What people are told when a turn fails."""

from __future__ import annotations

import logging

import pytest

from bot.agent.history.messages import IMAGES_REFUSED
from bot.agent.loop.failures import KINDS, failure_of, kind_of
from bot.errors import (
    ContentRefusedError,
    ContextTooLongError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    ParleyError,
    RequestRefusedError,
    SessionConflictError,
    StateError,
    StorageError,
    ToolError,
    TurnFailedError,
)
from bot.events import Ask

SECRET = "sk-secret-123 at /home/operator"
UNAVAILABLE = "The model service is busy or cannot be reached. Please try again in a while."
INTERNAL = "Something went wrong on my side while answering. Please try again."

TABLE: list[tuple[Exception, str, Ask | None]] = [
    (ModelUnavailableError(SECRET, retry_after=3), UNAVAILABLE, Ask.RETRY),
    (
        ModelRefusedError(SECRET),
        "The model service refused its key, the model or the request. "
        "Trying again will not help: whoever runs this bot has to look at it.",
        None,
    ),
    (
        ContentRefusedError(SECRET),
        "The model service's content filter refused this. Please ask in other words.",
        None,
    ),
    (
        ContextTooLongError(SECRET),
        "This conversation has become too long for the model. "
        "Trying again will not help: /reset begins anew.",
        None,
    ),
    (
        TurnFailedError(SECRET, code="budget_used_up"),
        "The budget for answers is used up for now. Please try again later, or ask whoever runs "
        "this bot.",
        None,
    ),
    (
        TurnFailedError(SECRET, code="empty_answer"),
        "The model had nothing to say to this. Please try again.",
        Ask.RETRY,
    ),
    (
        TurnFailedError(SECRET, code="too_many_steps"),
        "This took more steps than one message may, so I stopped here. I can go on from here.",
        Ask.CONTINUE,
    ),
    (
        TurnFailedError(SECRET, code="gave_up"),
        "I was interrupted several times while answering this, and gave up. Please try again.",
        Ask.RETRY,
    ),
    (
        StorageError(SECRET),
        "I cannot read or write my memory right now. I will answer once I can.",
        None,
    ),
    (TurnFailedError(SECRET, code="of a newer version"), INTERNAL, Ask.RETRY),
    (ModelError(SECRET), INTERNAL, Ask.RETRY),
    (ToolError(SECRET), INTERNAL, Ask.RETRY),
    (StateError(SECRET), INTERNAL, Ask.RETRY),
    (SessionConflictError(SECRET), INTERNAL, Ask.RETRY),
    (ParleyError(SECRET), INTERNAL, Ask.RETRY),
    (KeyError(SECRET), INTERNAL, Ask.RETRY),
]


@pytest.mark.parametrize(
    ("error", "text", "ask"),
    TABLE,
    ids=[f"{type(e).__name__} {n}" for n, (e, *_) in enumerate(TABLE)],
)
def test_every_failure_says_what_happened_and_whether_to_try_again(
    error: Exception, text: str, ask: Ask | None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        failure = failure_of(error, session_id="s")
    ended, event = failure.ended("turn-1"), failure.event("turn-1")
    assert ended.text == event.message == text
    assert kind_of(ended.code).ask is ask
    assert event.recoverable == (ask is not None)
    assert ended.reference == event.reference
    assert len(ended.reference) == 8
    assert ended.reference in caplog.text
    assert "secret" not in f"{ended}{event}"


def test_a_request_with_images_that_was_refused_can_be_tried_without_them() -> None:
    refused = RequestRefusedError(SECRET)
    failure = failure_of(refused, session_id="s", with_images=True)
    assert failure.code == IMAGES_REFUSED
    assert failure.text == (
        "The model service refused this, perhaps for an image, which I leave out now. "
        "Please try again."
    )
    assert kind_of(failure.code).ask is Ask.RETRY
    assert failure_of(refused, session_id="s").code == "model_refused"


def test_every_kind_is_in_the_table() -> None:
    told = {text for _, text, _ in TABLE} | {KINDS[IMAGES_REFUSED].text}
    assert told == {kind.text for kind in KINDS.values()}
