import pytest

from bot.agent import Actor
from bot.events import ApprovalRequestedEvent, utc_now
from bot.frontend.access import (
    Heard,
    Reaction,
    Speaker,
    may_decide,
    may_stop,
    may_talk,
    may_talk_here,
    may_withdraw,
    may_write_dms,
    reaction_to,
)
from bot.frontend.options import DMPolicy, FrontendOptions, ReplyMode
from bot.frontend.settings.effective import Operator, effective
from bot.frontend.settings.own import Answers, ChannelSettings, ServerSettings

HOME, AWAY = 1, 2
ALICE = 10
NURSE, DOCTOR = 20, 21


def speaker(guild: int = HOME, *roles: int, owner: bool = False) -> Speaker:
    return Speaker(user=ALICE, guild=guild, roles=frozenset(roles), owner=owner)


def options(**given: object) -> FrontendOptions:
    return FrontendOptions(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "who", "allowed"),
    [
        ({}, speaker(), True),
        ({"guild_ids": {HOME}}, speaker(), True),
        ({"guild_ids": {HOME}}, speaker(AWAY), False),
        ({"guild_ids": {HOME}}, speaker(AWAY, owner=True), True),
        ({"role_ids": {NURSE}}, speaker(HOME, NURSE, DOCTOR), True),
        ({"role_ids": {NURSE}}, speaker(HOME, DOCTOR), False),
        ({"user_ids": {ALICE}}, speaker(), True),
        ({"user_ids": {99}}, speaker(), False),
        ({"user_ids": {99}, "role_ids": {NURSE}}, speaker(HOME, NURSE), True),
        ({"guild_ids": {HOME}, "role_ids": {NURSE}}, speaker(AWAY, NURSE), False),
    ],
)
def test_who_may_talk_in_a_server(given: dict[str, object], who: Speaker, allowed: bool) -> None:
    assert may_talk(options(**given), who) is allowed


@pytest.mark.parametrize(
    ("given", "owner", "member", "allowed"),
    [
        ({}, False, False, False),
        ({}, False, True, True),
        ({}, True, False, True),
        ({"user_ids": {ALICE}}, False, False, True),
        ({"dms": DMPolicy.EVERYONE}, False, False, True),
        ({"dms": DMPolicy.NOBODY}, False, True, False),
        ({"dms": DMPolicy.NOBODY}, True, False, True),
    ],
)
def test_who_may_write_direct_messages(
    given: dict[str, object], owner: bool, member: bool, allowed: bool
) -> None:
    assert may_write_dms(options(**given), ALICE, owner=owner, member=member) is allowed


@pytest.mark.parametrize(
    ("given", "heard", "reaction"),
    [
        ({}, {"mentioned": False}, Reaction.NONE),
        ({}, {"mentioned": True}, Reaction.OPEN_THREAD),
        ({"reply_mode": ReplyMode.REPLY}, {"mentioned": True}, Reaction.ANSWER_HERE),
        ({"channel_ids": {5}}, {"mentioned": False}, Reaction.ANSWER_HERE),
        ({"channel_ids": {5}}, {"mentioned": True}, Reaction.ANSWER_HERE),
        ({}, {"mentioned": False, "thread": True}, Reaction.NONE),
        ({}, {"mentioned": True, "thread": True}, Reaction.ANSWER_HERE),
        ({}, {"mentioned": False, "thread": True, "joined": True}, Reaction.ANSWER_HERE),
        ({"channel_ids": {5}}, {"mentioned": False, "thread": True}, Reaction.ANSWER_HERE),
    ],
)
def test_where_it_answers(
    given: dict[str, object], heard: dict[str, bool], reaction: Reaction
) -> None:
    message = Heard(**{"thread": False, "joined": False, **heard})
    here = effective(
        Operator(options=options(**given)),
        ServerSettings(),
        ChannelSettings(),
        frozenset({5, 6}),
    )
    assert reaction_to(here, message) is reaction


@pytest.mark.parametrize("thread", [True, False])
@pytest.mark.parametrize("mentioned", [True, False])
def test_where_nothing_is_to_be_answered_nothing_is(thread: bool, mentioned: bool) -> None:
    channel = ChannelSettings(answers=Answers.NOTHING)
    here = effective(Operator(), ServerSettings(), channel)
    message = Heard(mentioned=mentioned, thread=thread, joined=thread)
    assert reaction_to(here, message) is Reaction.NONE


def test_a_channel_is_for_some_roles_and_for_the_owner() -> None:
    here = effective(Operator(), ServerSettings(roles=frozenset({20})), ChannelSettings())
    assert may_talk_here(here, Speaker(user=1, guild=2, roles=frozenset({20, 21})))
    assert not may_talk_here(here, Speaker(user=1, guild=2, roles=frozenset({21})))
    assert may_talk_here(here, Speaker(user=1, guild=2, owner=True))
    nobody = effective(Operator(), ServerSettings(), ChannelSettings(roles=frozenset()))
    assert not may_talk_here(nobody, Speaker(user=1, guild=2, roles=frozenset({20})))


@pytest.mark.parametrize(
    ("given", "actor", "allowed"),
    [
        ({}, Actor(user_id="user-10"), False),
        ({}, Actor(user_id="user-10", owner=True), True),
        ({}, Actor(user_id="user-10", moderator=True), True),
        ({"approver_user_ids": {10}}, Actor(user_id="user-10"), True),
        ({"approver_user_ids": {11}}, Actor(user_id="user-10"), False),
        ({"approver_role_ids": {20}}, Actor(user_id="u", roles=frozenset({"20"})), True),
        ({"approver_role_ids": {20}}, Actor(user_id="u", roles=frozenset({"21"})), False),
    ],
)
def test_who_may_decide(given: dict[str, object], actor: Actor, allowed: bool) -> None:
    assert may_decide(options(**given), actor) is allowed


def test_only_who_asked_may_withdraw() -> None:
    request = ApprovalRequestedEvent(
        approval_id="a",
        call_id="c",
        tool="t",
        arguments={},
        arguments_hash="",
        requested_by="user-1",
        expires_at=utc_now(),
    )
    assert may_withdraw(request, Actor(user_id="user-1"))
    assert not may_withdraw(request, Actor(user_id="user-2", owner=True))


def test_who_asked_and_moderators_may_stop() -> None:
    assert may_stop("user-1", Actor(user_id="user-1"))
    assert may_stop("user-1", Actor(user_id="user-2", moderator=True))
    assert may_stop(None, Actor(user_id="user-2", owner=True))
    assert not may_stop("user-1", Actor(user_id="user-2"))
