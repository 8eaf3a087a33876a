"""Webhooks: they post into a channel without being anyone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bot.sandbox import posting
from bot.sandbox.drafts import File, written
from bot.sandbox.messages import Message
from bot.sandbox.users import WebhookAuthor

if TYPE_CHECKING:
    from bot.sandbox.channels import Channel
    from bot.sandbox.world import World


class Webhook:
    """Something that posts into one channel under any name."""

    def __init__(self, world: World, name: str, channel: Channel) -> None:
        self.id = world.ids.next()
        self.channel = channel
        self.author = WebhookAuthor(world, name, self.id)
        world.users[self.id] = self.author

    async def says(
        self, content: str, *, attachments: Iterable[File] = (), **fields: Any
    ) -> Message:
        """Post a message."""
        draft = written(content, attachments, fields)
        origin = posting.Origin(webhook_id=self.id)
        return posting.post(self.channel, self.author, draft, origin)
