"""Two managers as somebody else would write them: the three methods and nothing more."""

from __future__ import annotations

import json

from bot.errors import SessionExistsError
from bot.sessions import Session, SessionManager


class DictManager(SessionManager):
    """Keeps `session.to_dict()` as JSON text."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    async def create(self, session_id: str, user_id: str | None = None) -> Session:
        if session_id in self.texts:
            raise SessionExistsError(session_id)
        session = Session(session_id, user_id)
        await self.save(session)
        return session

    async def get(self, session_id: str) -> Session | None:
        text = self.texts.get(session_id)
        return None if text is None else Session.from_dict(json.loads(text))

    async def save(self, session: Session) -> None:
        self.texts[session.session_id] = json.dumps(session.to_dict())


class ObjectManager(SessionManager):
    """Keeps the objects themselves."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}

    async def create(self, session_id: str, user_id: str | None = None) -> Session:
        if session_id in self.sessions:
            raise SessionExistsError(session_id)
        return self.sessions.setdefault(session_id, Session(session_id, user_id))

    async def get(self, session_id: str) -> Session | None:
        return self.sessions.get(session_id)

    async def save(self, session: Session) -> None:
        self.sessions[session.session_id] = session
