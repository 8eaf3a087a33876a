"""Who may do what: pure decisions over plain data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from bot.agent.approvals import Actor
from bot.events import ApprovalRequestedEvent, Author
from bot.frontend.ids import user_id_of
from bot.frontend.options import DMPolicy, FrontendOptions, ReplyMode
from bot.frontend.settings.effective import Effective
from bot.frontend.settings.own import Answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Someone in a server: as far as it matters for whether they may talk."""

    user: int
    guild: int
    roles: frozenset[int] = frozenset()
    owner: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What is known of a message in a server before anything is read or fetched.

    Attributes:
        mentioned: Whether it mentions the bot, or the bot's own role.
        thread: Whether it was written in a thread.
        joined: Whether that thread is a conversation of the bot already.
    """

    mentioned: bool
    thread: bool
    joined: bool


class Reaction(Enum):
    """What a message in a server calls for."""

    NONE = auto()
    ANSWER_HERE = auto()
    OPEN_THREAD = auto()


def may_talk(options: FrontendOptions, speaker: Speaker) -> bool:
    """Whether somebody in a server is answered there, as far as the operator is concerned."""
    if speaker.owner or speaker.user in options.user_ids:
        return True
    if options.guild_ids and speaker.guild not in options.guild_ids:
        return False
    restricted = bool(options.role_ids or options.user_ids)
    return not restricted or bool(options.role_ids & speaker.roles)


def may_talk_here(here: Effective, speaker: Speaker) -> bool:
    """Whether somebody is answered in a channel, as far as those who manage it are concerned."""
    roles = here.roles.value
    return speaker.owner or roles is None or bool(roles & speaker.roles)


def may_write_dms(options: FrontendOptions, user: int, *, owner: bool, member: bool) -> bool:
    """Whether somebody's direct messages are answered.

    Args:
        options: The configuration.
        user: Who writes.
        owner: Whether it is an owner of the bot.
        member: Whether they may talk in one of the servers.
    """
    if owner or user in options.user_ids or options.dms is DMPolicy.EVERYONE:
        return True
    return member and options.dms is DMPolicy.MEMBERS


def reaction_to(here: Effective, heard: Heard) -> Reaction:
    """Return what a message of somebody who may talk calls for."""
    if here.answers.value is Answers.NOTHING:
        return Reaction.NONE
    listening = here.answers.value is Answers.ALL
    if heard.thread:
        answered = heard.mentioned or heard.joined or listening
        return Reaction.ANSWER_HERE if answered else Reaction.NONE
    if listening:
        return Reaction.ANSWER_HERE
    if not heard.mentioned:
        return Reaction.NONE
    opens = here.reply_mode.value is ReplyMode.THREAD
    return Reaction.OPEN_THREAD if opens else Reaction.ANSWER_HERE


def may_decide(options: FrontendOptions, actor: Actor) -> bool:
    """Whether somebody may approve or deny a call.

    `actor.moderator` says that they have Manage Server where they decide, so never in a DM.
    """
    approvers = {user_id_of(user) for user in options.approver_user_ids}
    roles = {str(role) for role in options.approver_role_ids}
    return actor.owner or actor.moderator or actor.user_id in approvers or bool(roles & actor.roles)


def may_withdraw(request: ApprovalRequestedEvent, actor: Actor) -> bool:
    """Whether somebody may take back the request for a call."""
    return actor.user_id == request.requested_by


def may_ask_again(asker: str, by: Author) -> bool:
    """Whether somebody may have what `asker` wrote answered again.

    Nobody else, whatever their rights: tools would run with those, for words that are not theirs.
    """
    return by.user_id == asker


def may_stop(asker: str | None, actor: Actor) -> bool:
    """Whether somebody may stop the answer to what `asker` wrote."""
    return actor.user_id == asker or actor.moderator or actor.owner
