"""What people are told when a turn fails: one plain sentence, and a reference the log repeats."""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass

from bot.agent.history.messages import IMAGES_REFUSED
from bot.errors import (
    BudgetUsedUpError,
    ModelError,
    RequestRefusedError,
    StorageError,
    TurnFailedError,
)
from bot.events import Ask, ErrorEvent, TurnEndedEvent, TurnOutcome

logger = logging.getLogger(__name__)

INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Kind:
    """What people are told of a kind of failure, and what they may ask after it by a button."""

    text: str
    ask: Ask | None = None


KINDS = {
    "model_unavailable": Kind(
        "The model service is busy or cannot be reached. Please try again in a while.", Ask.RETRY
    ),
    "model_refused": Kind(
        "The model service refused its key, the model or the request. "
        "Trying again will not help: whoever runs this bot has to look at it."
    ),
    IMAGES_REFUSED: Kind(
        "The model service refused this, perhaps for an image, which I leave out now. "
        "Please try again.",
        Ask.RETRY,
    ),
    "content_refused": Kind(
        "The model service's content filter refused this. Please ask in other words."
    ),
    "context_too_long": Kind(
        "This conversation has become too long for the model. "
        "Trying again will not help: /reset begins anew."
    ),
    "budget_used_up": Kind(
        "The budget for answers is used up for now. Please try again later, or ask whoever runs "
        "this bot."
    ),
    "empty_answer": Kind("The model had nothing to say to this. Please try again.", Ask.RETRY),
    "too_many_steps": Kind(
        "This took more steps than one message may, so I stopped here. I can go on from here.",
        Ask.CONTINUE,
    ),
    "gave_up": Kind(
        "I was interrupted several times while answering this, and gave up. Please try again.",
        Ask.RETRY,
    ),
    "storage": Kind("I cannot read or write my memory right now. I will answer once I can."),
    INTERNAL: Kind("Something went wrong on my side while answering. Please try again.", Ask.RETRY),
}
"""What the codes of failed turns mean; a code that is not here counts as internal."""


def kind_of(code: str) -> Kind:
    """Return what a code of a failed turn means."""
    return KINDS.get(code, KINDS[INTERNAL])


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a turn failed, and the reference under which the log tells more.

    One with a sentence of its own needs no reference: nothing went wrong.
    """

    code: str
    reference: str = ""
    sentence: str = ""

    @property
    def text(self) -> str:
        """One sentence for people."""
        return self.sentence or kind_of(self.code).text

    def ended(self, turn_id: str) -> TurnEndedEvent:
        """Return what the log keeps of it."""
        return TurnEndedEvent(
            turn_id=turn_id,
            outcome=TurnOutcome.FAILED,
            code=self.code,
            text=self.text,
            reference=self.reference,
        )

    def event(self, turn_id: str) -> ErrorEvent:
        """Return what a reader of the run is told."""
        return ErrorEvent(
            turn_id=turn_id,
            message=self.text,
            code=self.code,
            recoverable=kind_of(self.code).ask is not None,
            reference=self.reference,
        )


def failure_of(error: Exception, *, session_id: str, with_images: bool = False) -> Failure:
    """Return what to tell of an error, and log it under the same reference.

    A request refused in a turn `with_images` is put down to them: they stay out of later ones.
    """
    if isinstance(error, BudgetUsedUpError):
        logger.info("a budget is used up in %s: %s", session_id, error)
        return Failure(error.code, sentence=str(error))
    images_refused = with_images and isinstance(error, RequestRefusedError)
    code = IMAGES_REFUSED if images_refused else _code(error)
    what = f"turn failed in {session_id} ({code})"
    reference = logged(what, error, unexpected=code == INTERNAL)
    return Failure(code, reference)


def logged(what: str, error: BaseException, *, unexpected: bool = True) -> str:
    """Log that something failed, with its stack if nobody expected it; return its reference."""
    reference = secrets.token_hex(4)
    logger.error("%s [%s]: %s", what, reference, error, exc_info=error if unexpected else None)
    return reference


def _code(error: Exception) -> str:
    match error:
        case ModelError() | TurnFailedError():
            return error.code
        case StorageError():
            return "storage"
        case _:
            return INTERNAL
