"""Sessions: what one is, and where they live."""

from bot.sessions.database.postgres import PostgresSessionManager
from bot.sessions.database.sql import SQLSessionManager
from bot.sessions.database.sqlite import SQLiteSessionManager
from bot.sessions.manager import SessionManager
from bot.sessions.memory import InMemorySessionManager
from bot.sessions.session import Session, check_session_id
from bot.sessions.state import State
from bot.sessions.store import (
    ApprovalRecord,
    Lease,
    SessionInfo,
    SessionStore,
    Standing,
    Written,
)
from bot.sessions.turns import OpenTurn

__all__ = [
    "ApprovalRecord",
    "InMemorySessionManager",
    "Lease",
    "OpenTurn",
    "PostgresSessionManager",
    "SQLSessionManager",
    "SQLiteSessionManager",
    "Session",
    "SessionInfo",
    "SessionManager",
    "SessionStore",
    "Standing",
    "State",
    "Written",
    "check_session_id",
]
