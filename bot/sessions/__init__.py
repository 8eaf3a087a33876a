"""Sessions: what one is, and where they live."""

from bot.sessions.manager import SessionManager
from bot.sessions.session import Session
from bot.sessions.store import SessionStore

__all__ = ["Session", "SessionManager", "SessionStore"]
