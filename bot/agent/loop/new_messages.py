"""Messages that come in: recorded once, however often they are handed over."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from bot.agent.again import check_latest
from bot.agent.loop.live import LiveSession
from bot.errors import DuplicateMessageError
from bot.events import RecordedEvent, UserMessageEvent
from bot.sessions import Session, SessionManager, SessionStore


class NewMessages:
    """Records messages that are not known yet."""

    def __init__(self, manager: SessionManager) -> None:
        self._manager = manager

    async def record(
        self,
        live: LiveSession,
        messages: Sequence[UserMessageEvent],
        *then: RecordedEvent,
        take: str | None = None,
    ) -> Sequence[RecordedEvent]:
        """Record those of the messages that are not known, and what goes with them.

        With `take` it is to go on with them in that name.

        Raises:
            DuplicateMessageError: if all of them are; nothing was recorded.
            NotLatestError: if one asks again about a turn that is not the latest.
        """
        while True:
            try:
                decide = partial(self._unless_known, messages=messages, then=then)
                return await live.record(decide, take=take)
            except DuplicateMessageError as exc:
                known = exc.source_id
                messages = [message for message in messages if message.source_id != known]
                if not messages:
                    raise

    def _unless_known(
        self,
        session: Session,
        messages: Sequence[UserMessageEvent],
        then: Sequence[RecordedEvent],
    ) -> Sequence[RecordedEvent]:
        """Return what to record; a manager that has no index of messages is helped out."""
        for message in messages:
            if message.about:
                check_latest(session, message.about)
        if not isinstance(self._manager, SessionStore):
            known = {e.source_id for e in session.events if isinstance(e, UserMessageEvent)}
            for message in messages:
                if message.source_id is not None and message.source_id in known:
                    raise DuplicateMessageError(message.source_id)
        return [*messages, *then]
