"""What is open in a whole database, on every engine."""

from bot.sessions import Session, SessionStore
from bot.sessions.database.sql import SQLSessionManager
from bot.sessions.stores.open_work import OpenWork, open_work
from tests.sessions.samples import answers, calls, requests, says


async def test_open_turns_and_waiting_approvals_are_counted(store: SessionStore) -> None:
    if not isinstance(store, SQLSessionManager):
        return  # there is no database
    assert await open_work(store.database) == OpenWork()
    waits, closed = Session("waits"), Session("closed")
    waits.append(says(), calls("c"), requests("a", "c"), says())
    closed.append(says(), answers())
    for session in (waits, closed):
        await store.save(session)
    assert await open_work(store.database) == OpenWork(turns=2, approvals=1)
