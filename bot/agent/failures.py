"""What people are told when a turn fails: one plain sentence, and a reference the log repeats."""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass

from bot.agent.history import IMAGES_REFUSED
from bot.errors import (
    ModelError,
    ModelUnavailableError,
    RequestRefusedError,
    StorageError,
    TurnFailedError,
)
from bot.events import ErrorEvent, TurnEndedEvent, TurnOutcome

logger = logging.getLogger(__name__)

_SENTENCES = {
    "model_unavailable": "The model service is not answering right now. Please try again later.",
    "model_refused": "The model service refused the request. The bot's operator has to look at it.",
    IMAGES_REFUSED: "The model service refused this, perhaps for an image, which I leave out now.",
    "content_refused": "The model service refused to answer this.",
    "context_too_long": "This conversation has become too long for the model. /reset starts anew.",
    "empty_answer": "The model had nothing to say to this.",
    "too_many_steps": "This took too many steps, so I stopped here.",
    "gave_up": "I was interrupted several times while answering this, and gave up.",
    "storage": "I cannot read or write my memory right now. I will answer once I can.",
    "internal": "Something went wrong on my side while answering.",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a turn failed, and the reference under which the log tells more."""

    code: str
    reference: str
    recoverable: bool = False

    @property
    def text(self) -> str:
        """One sentence for people."""
        return _SENTENCES.get(self.code, _SENTENCES["internal"])

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
            recoverable=self.recoverable,
            reference=self.reference,
        )


def failure_of(error: Exception, *, session_id: str, with_images: bool = False) -> Failure:
    """Return what to tell of an error, and log it under the same reference.

    A request refused in a turn `with_images` is put down to them: they stay out of later ones.
    """
    images_refused = with_images and isinstance(error, RequestRefusedError)
    code = IMAGES_REFUSED if images_refused else _code(error)
    what = f"turn failed in {session_id} ({code})"
    reference = logged(what, error, unexpected=code == "internal")
    return Failure(code, reference, isinstance(error, ModelUnavailableError))


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
            return "internal"
