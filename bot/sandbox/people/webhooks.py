"""Webhooks: they post into a channel without being anyone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bot.sandbox.posting import posts
from bot.sandbox.posting.drafts import File, written
from bot.sandbox.resources.channels import Channel
from bot.sandbox.resources.messages import Message
from bot.sandbox.resources.state import State
from bot.sandbox.resources.users import WebhookAuthor


class Webhook:
    """Something that posts into one channel under any name."""

    def __init__(self, world: State, name: str, channel: Channel) -> None:
        self.id = world.ids.next()
        self.channel = channel
        self.author = WebhookAuthor(world, name, self.id)
        world.users[self.id] = self.author

    async def says(
        self, content: str, *, attachments: Iterable[File] = (), **fields: Any
    ) -> Message:
        """Post a message."""
        draft = written(content, attachments, fields)
        origin = posts.Origin(webhook_id=self.id)
        return posts.post(self.channel, self.author, draft, origin)
