"""Parley: a Discord bot whose conversations are durable sessions.

The names here are the public interface. Each is imported when it is first asked for, so that the
command line loads only what a command needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.agent import (
        Actor,
        Agent,
        AgentResult,
        AgentRun,
        Approvers,
        ExecutionContext,
        File,
        LateToolSource,
        Tool,
        ToolOutput,
        ToolSource,
        UserMessage,
        tool,
    )
    from bot.errors import (
        AccessDeniedError,
        ApprovalDecidedError,
        ApprovalNotFoundError,
        ApprovalRefusedError,
        BudgetUsedUpError,
        ConfigError,
        ContentRefusedError,
        ContextTooLongError,
        DuplicateMessageError,
        ModelError,
        ModelRefusedError,
        ModelUnavailableError,
        NotLatestError,
        NotUndoneError,
        ParleyError,
        RequestRefusedError,
        SessionConflictError,
        SessionExistsError,
        StateError,
        StorageError,
        ToolError,
        ToolOutcomeUnknownError,
        TurnFailedError,
    )
    from bot.events import (
        ApprovalDecidedEvent,
        ApprovalRequestedEvent,
        Ask,
        AssistantMessageEvent,
        Attachment,
        Author,
        CompactionDoneEvent,
        Decision,
        DoneEvent,
        ErasedEvent,
        ErrorEvent,
        Event,
        Quote,
        RateLimitEvent,
        ReasoningChunkEvent,
        RecordedEvent,
        ResetEvent,
        RunStatus,
        StopRequestedEvent,
        TextChunkEvent,
        ToolCall,
        ToolProgressEvent,
        ToolResultEvent,
        ToolStartedEvent,
        ToolStatus,
        TurnEndedEvent,
        TurnOutcome,
        TurnResumedEvent,
        UnknownEvent,
        Usage,
        UserMessageEvent,
    )
    from bot.providers import Provider, ProviderType
    from bot.sessions import (
        InMemorySessionManager,
        PostgresSessionManager,
        Session,
        SessionManager,
        SessionStore,
        SQLiteSessionManager,
    )

__all__ = [
    "AccessDeniedError",
    "Actor",
    "Agent",
    "AgentResult",
    "AgentRun",
    "ApprovalDecidedError",
    "ApprovalDecidedEvent",
    "ApprovalNotFoundError",
    "ApprovalRefusedError",
    "ApprovalRequestedEvent",
    "Approvers",
    "Ask",
    "AssistantMessageEvent",
    "Attachment",
    "Author",
    "BudgetUsedUpError",
    "CompactionDoneEvent",
    "ConfigError",
    "ContentRefusedError",
    "ContextTooLongError",
    "Decision",
    "DoneEvent",
    "DuplicateMessageError",
    "ErasedEvent",
    "ErrorEvent",
    "Event",
    "ExecutionContext",
    "File",
    "InMemorySessionManager",
    "LateToolSource",
    "ModelError",
    "ModelRefusedError",
    "ModelUnavailableError",
    "NotLatestError",
    "NotUndoneError",
    "ParleyError",
    "PostgresSessionManager",
    "Provider",
    "ProviderType",
    "Quote",
    "RateLimitEvent",
    "ReasoningChunkEvent",
    "RecordedEvent",
    "RequestRefusedError",
    "ResetEvent",
    "RunStatus",
    "SQLiteSessionManager",
    "Session",
    "SessionConflictError",
    "SessionExistsError",
    "SessionManager",
    "SessionStore",
    "StateError",
    "StopRequestedEvent",
    "StorageError",
    "TextChunkEvent",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolOutcomeUnknownError",
    "ToolOutput",
    "ToolProgressEvent",
    "ToolResultEvent",
    "ToolSource",
    "ToolStartedEvent",
    "ToolStatus",
    "TurnEndedEvent",
    "TurnFailedError",
    "TurnOutcome",
    "TurnResumedEvent",
    "UnknownEvent",
    "Usage",
    "UserMessage",
    "UserMessageEvent",
    "tool",
]

_ROOMS = ("errors", "events", "sessions", "agent", "providers")
"""Where the names are, low to high: one that comes earlier is imported by the later ones anyway."""

if not TYPE_CHECKING:  # else every name would exist for a type checker

    def __getattr__(name: str) -> object:
        for room in _ROOMS if name in __all__ else ():
            found = getattr(import_module(f"{__name__}.{room}"), name, None)
            if found is not None:
                globals()[name] = found
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
