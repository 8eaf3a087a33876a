"""Where somebody talked with the bot, page by page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import discord

from bot.frontend.ids import user_id_of
from bot.frontend.own.visibility import Visibility
from bot.frontend.view.shown import Button
from bot.sessions import SessionStore, Written

PAGE = 10
LOOKED_AT = 40  # conversations for one page: each is asked of Discord
NOTHING = "I know of no conversation of yours that you can see."
NONE_VISIBLE = "None of the latest ones can be seen by you any more."
NO_MORE = "There are no more."

_EPOCH = datetime.fromtimestamp(0, UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Page:
    """A text, and the button to the next page if there is one."""

    text: str
    buttons: tuple[Button, ...] = ()


class Listing:
    """Lists the conversations in which somebody wrote, of those that they may still see."""

    def __init__(self, client: discord.Client, store: SessionStore) -> None:
        self._client = client
        self._store = store

    async def page(self, user: int, before: datetime | None = None) -> Page:
        """Return one page, the latest first.

        Raises:
            UnavailableError: if Discord cannot be asked.
        """
        eyes, lines, looked_at = Visibility(self._client, user), list[str](), 0
        nothing = NOTHING if before is None else NO_MORE
        while len(lines) < PAGE and looked_at < LOOKED_AT:
            wanted = PAGE - len(lines)
            found = await self._store.written_by(user_id_of(user), limit=wanted, before=before)
            if not found:
                return Page("\n".join(lines) or nothing)
            for each in found:
                link = await eyes.link(each.session_id)
                lines += [_line(each, link)] if link else []
            looked_at += len(found)
            before = found[-1].last_at
        text = "\n".join(lines) or NONE_VISIBLE
        assert before is not None  # noqa: S101 - at least one page was found
        return Page(text, (Button("More", f"sessions:{(before - _EPOCH) // _MICROSECOND}"),))


def time_of(number: str) -> datetime:
    """Return the time that a button names."""
    return _EPOCH + int(number) * _MICROSECOND


def _line(written: Written, link: str) -> str:
    noun = "message" if written.messages == 1 else "messages"
    when = int(written.last_at.timestamp())
    return f"- {link}: {written.messages} {noun} of yours, the last <t:{when}:R>"
