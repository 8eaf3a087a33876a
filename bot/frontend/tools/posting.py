"""Tools that post a message: plain, as an announcement, or as a poll."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any

import discord
from pydantic import Field, StringConstraints

from bot.agent import ExecutionContext, Tool, tool
from bot.frontend.rendering.markdown import LIMIT
from bot.frontend.rights.permissions import WRITE, Reach
from bot.frontend.rights.places import place_worded
from bot.frontend.rights.requests import done
from bot.frontend.showing.outbox import Outbox

POLL = (*WRITE, "send_polls")
MOST_HOURS = 32 * 24  # as the reference says, "Poll Create Request Object"
Text = Annotated[str, StringConstraints(pattern=r"\S", max_length=LIMIT)]
Question = Annotated[str, StringConstraints(pattern=r"\S", max_length=300)]
Choice = Annotated[str, StringConstraints(pattern=r"\S", max_length=55)]
Choices = Annotated[list[Choice], Field(min_length=1, max_length=10)]
Hours = Annotated[int, Field(ge=1, le=MOST_HOURS)]


def post_message_tool(reach: Reach) -> Tool:
    """Return the tool that posts a message in another channel or thread."""

    async def may_post(arguments: Mapping[str, Any], context: ExecutionContext) -> None:
        await reach.place(context, arguments["channel"], WRITE)

    @tool(
        approval=True,
        check=may_post,
        sentence=lambda arguments: f"Post a message in {place_worded(arguments['channel'])}.",
    )
    async def post_message(channel: str, text: Text, context: ExecutionContext) -> str:
        """Post a message in a channel or thread of this server.

        Args:
            channel: Its name, mention or id.
            text: What to post, at most 2,000 characters.
            context: Where this was asked for.
        """
        place = await reach.place(context, channel, WRITE)
        await post(reach, place.id, context, text=text)
        return f"Posted in #{place.name}."

    return post_message


def make_poll_tool(reach: Reach) -> Tool:
    """Return the tool that makes a poll."""

    async def may_poll(arguments: Mapping[str, Any], context: ExecutionContext) -> None:
        await reach.place(context, arguments["channel"], POLL)

    @tool(
        approval=True,
        check=may_poll,
        sentence=lambda arguments: (
            f"Make a poll in {place_worded(arguments['channel'])}, "
            f"open for {counted(arguments['hours'], 'hour')}."
        ),
    )
    async def make_poll(
        channel: str,
        question: Question,
        answers: Choices,
        context: ExecutionContext,
        hours: Hours = 24,
        several: bool = False,
    ) -> str:
        """Make a poll in a channel or thread of this server.

        Args:
            channel: Its name, mention or id; "here" is where you are asked.
            question: What is asked, at most 300 characters.
            answers: 1 to 10 answers to choose from, each of at most 55 characters.
            hours: How long people can vote, at most 768 hours.
            several: Whether one may choose several answers.
            context: Where this was asked for.
        """
        place = await reach.place(context, channel, POLL)
        poll = discord.Poll(question, timedelta(hours=hours), multiple=several)
        for answer in answers:
            poll.add_answer(text=answer)
        await post(reach, place.id, context, poll=poll)
        return f"The poll is in #{place.name}."

    return make_poll


async def post(
    reach: Reach,
    channel_id: int,
    context: ExecutionContext,
    *,
    text: str | None = None,
    poll: discord.Poll | None = None,
) -> None:
    """Post what a call is to post, once, however often discord.py sends it."""
    nonce = hashlib.sha256(context.call_id.encode()).hexdigest()[:25]
    outbox = Outbox(reach.client)
    await done(lambda: outbox.post(channel_id, nonce=nonce, text=text, poll=poll))


def counted(number: int, unit: str) -> str:
    """Return a number with its unit."""
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"
