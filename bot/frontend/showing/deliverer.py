"""Bringing one message to where people see it, exactly once."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace

from bot.failpoints import around
from bot.frontend.ids import place_of
from bot.frontend.refusals import (
    ContentRefusedError,
    MessageGoneError,
    PlaceGoneError,
    RefusedError,
)
from bot.frontend.showing.draft import status_key
from bot.frontend.showing.outbox import Outbox, nonce_of
from bot.frontend.view.elsewhere import Elsewhere
from bot.frontend.view.shown import Key, Purpose, Shown
from bot.sessions.stores.deliveries import Delivery, DeliveryStore

logger = logging.getLogger(__name__)

Known = dict[Key, Delivery]


class Deliverer:
    """Sends, edits and deletes the messages of sessions, and keeps note of them.

    A delivery is noted before its message is sent, and with the message's id after. One without
    an id was perhaps sent by a process that ended: it is looked for before another is sent.
    """

    def __init__(self, *, outbox: Outbox, deliveries: DeliveryStore, elsewhere: Elsewhere) -> None:
        self._outbox = outbox
        self._elsewhere = elsewhere
        self._deliveries = deliveries

    async def known(self, session_id: str, turn_ids: Iterable[str]) -> Known:
        """Return what is noted of some turns."""
        noted = await self._deliveries.of(session_id, turn_ids)
        return {key_of(delivery): delivery for delivery in noted}

    async def preview(self, session_id: str, shown: Shown) -> None:
        """Show something that is still being written; one that was deleted is not sent again.

        What has its last form, and so no button, is noted: it needs no edit at the end.

        Raises:
            DiscordError: if it cannot be shown.
        """
        known = await self.known(session_id, [shown.key.turn_id])
        delivery = known.get(shown.key) or await self._taken_over(shown.key, known)
        if delivery is None or delivery.message_id is None:
            await self.show(session_id, shown, known)
            return
        if delivery.final:
            return  # another process was faster
        if delivery.content_hash:
            await self._note(replace(delivery, content_hash=""))
        await self._outbox.edit(delivery.channel_id, delivery.message_id, shown)
        if not shown.buttons:
            await self._note(replace(delivery, content_hash=shown.content_hash))

    async def show(self, session_id: str, shown: Shown, known: Known) -> None:
        """Make a message show this: sent if there is none, edited if it shows something else.

        Of a card that is elsewhere a line in the conversation says where.

        Raises:
            DiscordError: if it cannot be shown.
        """
        delivery = await self._shown(session_id, shown, known)
        pointer = await self._elsewhere.pointer(shown, delivery)
        if pointer is not None:
            await self._shown(session_id, pointer, known)

    async def _shown(self, session_id: str, shown: Shown, known: Known) -> Delivery:
        delivery = known.get(shown.key) or await self._taken_over(shown.key, known)
        if delivery is None and shown.key.purpose is Purpose.FILES:
            await self._clear_the_way(shown, known)
        delivery = delivery or await self._fresh(session_id, shown)
        if delivery.message_id is None and shown.key in known:
            delivery = await self._looked_for(delivery, shown)
        if delivery.message_id is None:
            return await self._send(delivery, shown)
        if (delivery.content_hash, delivery.final) != (shown.content_hash, shown.final):
            return await self._edit(delivery, shown)
        return delivery

    async def _fresh(self, session_id: str, shown: Shown) -> Delivery:
        delivery = _fresh(session_id, shown.key)
        channel = await self._elsewhere.channel_for(session_id, shown)
        return delivery if channel is None else replace(delivery, channel_id=channel)

    async def _taken_over(self, key: Key, known: Known) -> Delivery | None:
        """Let an answer begin in the message of its turn's status line, if there is one."""
        status = known.get(status_key(key.turn_id))
        if status is None or status.message_id is None:
            return None
        if key.purpose is not Purpose.ANSWER or key.part:
            return None
        await self._deliveries.move(status, key.subject, key.purpose.value, key.part)
        del known[status_key(key.turn_id)]
        known[key] = moved = replace(
            status, subject=key.subject, purpose=key.purpose.value, content_hash=""
        )
        return moved

    async def _clear_the_way(self, shown: Shown, known: Known) -> None:
        """Take away the status line: the answer would begin there, above what comes before it."""
        status = known.pop(status_key(shown.key.turn_id), None)
        if status is not None:
            await self.remove(status, asked=shown.asked)

    async def remove(self, delivery: Delivery, *, asked: str | None) -> None:
        """Take a message away, and the note of it; one whose id was lost is looked for."""
        if delivery.message_id is None:
            lost = Shown(key=key_of(delivery), content="", asked=asked)
            delivery = await self._looked_for(delivery, lost)
        if delivery.message_id is not None:
            await self._outbox.delete(delivery.channel_id, delivery.message_id)
        await self._deliveries.remove(delivery)

    async def _looked_for(self, delivery: Delivery, shown: Shown) -> Delivery:
        """Return a delivery with the id of its message, if that can be found."""
        try:
            found = await self._outbox.find(delivery.channel_id, shown)
        except (RefusedError, PlaceGoneError):
            return delivery  # a place that cannot be read: better twice than never
        for message_id in found:
            if await self._deliveries.by_message(message_id) is None:
                return replace(delivery, message_id=message_id)
        return delivery

    async def _send(self, delivery: Delivery, shown: Shown) -> Delivery:
        """Send it where it belongs; what cannot be said elsewhere is said in the conversation."""
        here = _fresh(delivery.session_id, shown.key).channel_id
        try:
            return await self._send_there(delivery, shown)
        except ContentRefusedError:
            raise
        except (RefusedError, PlaceGoneError) as exc:
            if delivery.channel_id == here:
                raise
            logger.warning("a request cannot be shown in %s: %s", delivery.channel_id, exc)
            return await self._send_there(replace(delivery, channel_id=here), shown)

    async def _send_there(self, delivery: Delivery, shown: Shown) -> Delivery:
        await self._note(replace(delivery, message_id=None, final=False))
        message_id = await self._sent(delivery, shown)
        done = _done(delivery, shown, message_id)
        await self._note(done)
        return done

    async def _sent(self, delivery: Delivery, shown: Shown) -> int:
        session_id, channel_id = delivery.session_id, delivery.channel_id
        nonce = nonce_of(session_id, shown.key, delivery.message_id)
        try:
            return await self._outbox.send(channel_id, shown, nonce=nonce)
        except MessageGoneError:
            # It was sent with this nonce a moment ago, and deleted since: Discord wants another.
            again = nonce_of(session_id, shown.key, 0)
            return await self._outbox.send(channel_id, shown, nonce=again)

    async def _edit(self, delivery: Delivery, shown: Shown) -> Delivery:
        message_id = delivery.message_id
        assert message_id is not None  # noqa: S101 - the caller has looked
        try:
            if delivery.content_hash != shown.content_hash:
                await self._outbox.edit(delivery.channel_id, message_id, shown)
        except MessageGoneError:
            return await self._send(delivery, shown)
        except PlaceGoneError:
            if delivery.channel_id == _fresh(delivery.session_id, shown.key).channel_id:
                raise
            return await self._send(delivery, shown)
        done = _done(delivery, shown, message_id)
        await self._note(done)
        return done

    async def _note(self, delivery: Delivery) -> None:
        with around("note"):
            await self._deliveries.put(delivery)


def key_of(delivery: Delivery) -> Key:
    """Return the key under which a delivery is noted."""
    return Key(delivery.turn_id, delivery.subject, Purpose(delivery.purpose), delivery.part)


def _fresh(session_id: str, key: Key) -> Delivery:
    place = place_of(session_id)
    if place is None:
        raise ValueError(f"{session_id!r} is not a place in Discord")
    return Delivery(
        session_id,
        key.turn_id,
        key.subject,
        key.purpose.value,
        key.part,
        channel_id=place.channel_id,
        message_id=None,
        content_hash="",
        final=False,
    )


def _done(delivery: Delivery, shown: Shown, message_id: int) -> Delivery:
    return replace(
        delivery, message_id=message_id, content_hash=shown.content_hash, final=shown.final
    )
