"""Taking a conversation into a store: all of it or nothing, and never over another."""

from __future__ import annotations

from datetime import timedelta

from bot.agent.loop.closing import end_turn
from bot.errors import SessionConflictError, SessionExistsError, StateError, TransferError
from bot.events import TurnEndedEvent, TurnOutcome
from bot.sessions import Session, SQLSessionManager
from bot.sessions.database.rows import saving
from bot.sessions.stores.deliveries import showing_up_to
from bot.storage import Connection
from bot.transfer.conversation import Conversation

IMPORTED = "imported"


async def take_in(store: SQLSessionManager, session_id: str, found: Conversation) -> Session:
    """Store a conversation as a new session; what is open in it is closed, and nothing is resumed.

    Where it is a place in Discord nothing of it is posted there.

    Raises:
        SessionExistsError: if there is a session of this id.
        TransferError: if there is nothing in it, or its state is none.
        ValueError: if that is no id.
    """
    session = made(session_id, found)
    if not session.last_seq:
        raise TransferError("there is nothing in it")
    for data in found.files:
        await store.put_blob(data)
    shown = showing_up_to(session_id, session.last_seq)
    save = saving(session, session.state_json(), session.unsaved)

    def job(connection: Connection) -> None:
        save(connection)
        shown(connection)

    try:
        await store.database.write(job)
    except SessionConflictError as exc:
        raise SessionExistsError(session_id) from exc
    session.mark_saved(seq=session.last_seq, version=1, state=session.state_json())
    return session


def made(session_id: str, found: Conversation) -> Session:
    """Return a session that is not stored yet, with everything in it closed."""
    try:
        session = Session(session_id, found.user_id, state=found.state, created_at=found.created_at)
        session.state_json()
    except StateError as exc:
        raise TransferError(f"its state cannot be kept: {exc}") from exc
    session.append(*found.events)
    for turn in session.open_turns:
        end = TurnEndedEvent(
            turn_id=turn.turn_id,
            outcome=TurnOutcome.CANCELLED,
            code=IMPORTED,
            at=session.updated_at + timedelta(microseconds=1),
        )
        session.append(*end_turn(session, end, by=IMPORTED))
    return session
