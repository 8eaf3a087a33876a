"""The vocabulary of events: what happened in a session.

*Recorded* events are the log of a session. Each has a `seq` (1, 2, 3, ... within its session) and
belongs to a turn; `Session.append` gives both. *Live* events are only streamed.

Events are frozen, so that they can be kept and shared. Times are aware and in UTC.
"""

from bot.events.base import (
    Ask,
    Attachment,
    Author,
    Decision,
    Event,
    Quote,
    Recalled,
    Receipt,
    RunStatus,
    ToolCall,
    ToolStatus,
    TurnOutcome,
    Usage,
    new_id,
    utc_now,
)
from bot.events.live import (
    DoneEvent,
    ErrorEvent,
    RateLimitEvent,
    ReasoningChunkEvent,
    TextChunkEvent,
    ToolProgressEvent,
)
from bot.events.recorded import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    CompactionDoneEvent,
    ErasedEvent,
    RecordedEvent,
    ResetEvent,
    StopRequestedEvent,
    ToolResultEvent,
    ToolStartedEvent,
    TurnEndedEvent,
    TurnResumedEvent,
    UnknownEvent,
    UserMessageEvent,
)

__all__ = [
    "ApprovalDecidedEvent",
    "ApprovalRequestedEvent",
    "Ask",
    "AssistantMessageEvent",
    "Attachment",
    "Author",
    "CompactionDoneEvent",
    "Decision",
    "DoneEvent",
    "ErasedEvent",
    "ErrorEvent",
    "Event",
    "Quote",
    "RateLimitEvent",
    "ReasoningChunkEvent",
    "Recalled",
    "Receipt",
    "RecordedEvent",
    "ResetEvent",
    "RunStatus",
    "StopRequestedEvent",
    "TextChunkEvent",
    "ToolCall",
    "ToolProgressEvent",
    "ToolResultEvent",
    "ToolStartedEvent",
    "ToolStatus",
    "TurnEndedEvent",
    "TurnOutcome",
    "TurnResumedEvent",
    "UnknownEvent",
    "Usage",
    "UserMessageEvent",
    "new_id",
    "utc_now",
]
