"""Every error raised on purpose; the type says who can act.

ParleyError
├── ConfigError                  the operator: settings are missing or wrong
│   └── OtherApplicationError    the database belongs to another application of Discord
├── SessionError                 the caller
│   ├── SessionExistsError       `create` met a session of that id
│   ├── SessionConflictError     another writer stored events first; read again
│   ├── DuplicateMessageError    a message with this `source_id` is stored already
│   ├── NotLatestError           only the latest turn, once it has ended, can be asked about again
│   ├── NotUndoneError           only the last reset, a short while ago, can be taken back
│   ├── StateError               a value of `state` is not JSON
│   └── AccessDeniedError        this user may not continue this session
├── ApprovalError                whoever decides
│   ├── ApprovalNotFoundError    no such request in this session
│   ├── ApprovalDecidedError     decided before: by whom, when, how
│   └── ApprovalRefusedError     this person may not decide it
├── NoRoomError                  whoever asks: they keep as much as they may, and can remove some
├── TransferError                the operator: a file that cannot be taken in, and where
├── StorageError                 the operator: the database cannot be read or written
├── ModelError                   the model service
│   ├── ModelUnavailableError    try again later
│   ├── ModelRefusedError        key, model name or request refused: the operator
│   │   └── RequestRefusedError  this request, as it stands: what is in it
│   ├── ContentRefusedError      the service refused what was said
│   └── ContextTooLongError      the conversation is longer than the model reads
├── BudgetUsedUpError            whoever asked: wait until it renews
├── ToolError                    the model: told as the tool's result
│   └── ToolOutcomeUnknownError  nobody can say whether the tool did it
└── TurnFailedError              a turn that ended as failed or was given up
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class ParleyError(Exception):
    """Anything Parley raises on purpose."""


class ConfigError(ParleyError):
    """Settings are missing or wrong; `problems` names all of them at once."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class OtherApplicationError(ConfigError):
    """The database belongs to another application of Discord than the token."""

    def __init__(self, owner: str, application_id: int) -> None:
        super().__init__(
            f"the database belongs to another application of Discord ({owner}) than "
            f"DISCORD_TOKEN ({application_id}): set DATABASE or DATABASE_URL to a database of its "
            "own, or stop all bots and run `python -m bot adopt` to let it have this one."
        )
        self.owner = owner
        self.application_id = application_id


class SessionError(ParleyError):
    """Something is wrong with how a session is used."""


class SessionExistsError(SessionError):
    """A session of this id exists already."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"session {session_id!r} exists already")
        self.session_id = session_id


class SessionConflictError(SessionError):
    """Another writer stored events of this session first: read it again."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"session {session_id!r} was changed by another writer")
        self.session_id = session_id


class DuplicateMessageError(SessionError):
    """A message with this `source_id` is stored already."""

    def __init__(self, source_id: str) -> None:
        super().__init__(f"message {source_id!r} is stored already")
        self.source_id = source_id


class NotLatestError(SessionError):
    """Something was said since that turn, or (`busy`) a turn has no end yet."""

    def __init__(self, *, busy: bool) -> None:
        super().__init__("a turn has no end yet" if busy else "that is not the latest turn")
        self.busy = busy


class NotUndoneError(SessionError):
    """A reset is not the last boundary any more, or (`late`) too long ago."""

    def __init__(self, *, late: bool) -> None:
        super().__init__("that was too long ago" if late else "that is not the last reset")
        self.late = late


class StateError(SessionError, ValueError):
    """A value of a session's state is not JSON; the message names the key."""


class AccessDeniedError(SessionError):
    """This user may not read or continue this session."""


class ApprovalError(ParleyError):
    """A decision could not be taken."""


class ApprovalNotFoundError(ApprovalError):
    """This session never requested such an approval."""

    def __init__(self, approval_id: str) -> None:
        super().__init__(f"no approval {approval_id!r} was requested in this session")
        self.approval_id = approval_id


class ApprovalDecidedError(ApprovalError):
    """The request was decided before; tells by whom, when (UTC) and how."""

    def __init__(self, by: str, at: datetime, decision: str) -> None:
        super().__init__(f"already {decision} by {by} at {at:%Y-%m-%d %H:%M:%S} UTC")
        self.by = by
        self.at = at
        self.decision = decision


class ApprovalRefusedError(ApprovalError):
    """This person may not decide this request; the message is the reason to tell them.

    `by_rule` says whether it is a rule for this tool that tells who may.
    """

    def __init__(self, reason: str, *, by_rule: bool = False) -> None:
        super().__init__(reason)
        self.by_rule = by_rule


class NoRoomError(ParleyError):
    """Somebody keeps as many of these as they may."""


class TransferError(ParleyError):
    """A file cannot be taken in; the message says where in it."""


class StorageError(ParleyError):
    """The database cannot be read or written, or was made by a newer version."""


class ModelError(ParleyError):
    """The model service did not answer as asked; `code` is short and stable."""

    code = "model_error"


class ModelUnavailableError(ModelError):
    """The service is busy, down or unreachable: try again later.

    `retry_after` is in seconds, where the service told it.
    """

    code = "model_unavailable"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRefusedError(ModelError):
    """The service refuses the key, the model's name or the request: the operator can act."""

    code = "model_refused"


class RequestRefusedError(ModelRefusedError):
    """The service refuses this request as it stands; others may be fine."""


class ContentRefusedError(ModelError):
    """The service refused the content of the conversation."""

    code = "content_refused"


class ContextTooLongError(ModelError):
    """The conversation is longer than the model reads."""

    code = "context_too_long"


class BudgetUsedUpError(ParleyError):
    """No model may be called for now; the message is the sentence to tell people."""

    code = "budget_used_up"


class ToolError(ParleyError):
    """Raised by a tool: the message is told to the model as the call's result."""


class ToolOutcomeUnknownError(ToolError):
    """Raised by a tool that cannot say whether its effect took place; the message tells why."""


class TurnFailedError(ParleyError):
    """A turn ended as failed for a reason that has no error of its own; `code` names it."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code
