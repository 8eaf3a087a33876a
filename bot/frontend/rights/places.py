"""Finding the channel or thread that somebody means, in the server in which they ask."""

from __future__ import annotations

import re
from collections.abc import Sequence

import discord

from bot.frontend.rights.requests import found
from bot.frontend.rights.standing import Place, Standing, is_place
from bot.frontend.text import plain

HERE = "here"
_NUMBER = re.compile(r"<#(?P<mentioned>[0-9]{1,20})>|(?P<bare>[0-9]{15,20})")


async def places_called(client: discord.Client, standing: Standing, wanted: str) -> Sequence[Place]:
    """Return what a name, a mention or an id may mean; not yet whether anybody may see it."""
    if is_here(wanted):
        return [standing.here]
    number = place_number(wanted)
    if number is not None:
        place = await _numbered(client, standing.guild, number)
        return [place] if place is not None else []
    name = _name(wanted)
    every = (*standing.guild.channels, *standing.guild.threads)
    return [each for each in every if is_place(each) and each.name.casefold() == name]


async def _numbered(client: discord.Client, guild: discord.Guild, number: int) -> Place | None:
    """Return the place with an id; an archived thread is not among those that are known."""
    place: object = guild.get_channel_or_thread(number)
    if place is None:
        place = await found(lambda: client.fetch_channel(number))
    return place if is_place(place) and place.guild.id == guild.id else None


def is_here(wanted: str) -> bool:
    """Whether it is the place in which it is asked that is meant."""
    return wanted.strip().casefold() == HERE


def place_number(wanted: str) -> int | None:
    """Return the id that a mention or an id names."""
    match = _NUMBER.fullmatch(wanted.strip())
    return int(match["mentioned"] or match["bare"]) if match else None


def _name(wanted: str) -> str:
    return wanted.strip().removeprefix("#").casefold()


def place_worded(wanted: str) -> str:
    """Return a place in the words of a sentence for people; nothing in it is markup of others'."""
    if is_here(wanted):
        return "this channel"
    number = place_number(wanted)
    return f"<#{number}>" if number else f"#{plain(wanted.strip().removeprefix('#'), 100)}"
