"""Rules for tools: what an operator's file says, what managers may add, and what then holds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent import Actor, Tool, tool
from bot.agent.approvers import Approvers
from bot.agent.policy.ceiling import objection, within
from bot.agent.policy.file import parse_policy
from bot.agent.policy.policy import FixedPolicy, Rules
from bot.agent.policy.rule import NOTHING, UNSAID, Grant, Mode, OperatorRule, Rule
from bot.agent.policy.standing import grant_to_json, rule_from, rule_to_json, standing
from bot.errors import ConfigError
from bot.events import ApprovalRequestedEvent, utc_now
from bot.sessions import Session
from bot.sessions.stores.policies import ChangeKind, PolicyChange

MODES = st.sampled_from(Mode)
MAYBE = st.none() | MODES


def made(approval: Any = True, **options: Any) -> Tool:
    def pay(amount: int = 1, to: str = "") -> str:
        """Pay."""
        return "paid"

    return tool(approval=approval, **options)(pay)


def asked(by: str = "user-1") -> ApprovalRequestedEvent:
    return ApprovalRequestedEvent(
        approval_id="a",
        call_id="c",
        tool="pay",
        arguments={},
        arguments_hash="",
        requested_by=by,
        expires_at=utc_now(),
    )


def rules(operator: OperatorRule = UNSAID, managers: Rule = NOTHING, *grants: Grant) -> Rules:
    return Rules(lambda tool: operator, {"pay": managers}, grants)


def mode(rules: Rules, tool: Tool, **arguments: Any) -> Mode:
    return rules.mode(tool, arguments, Session("s"))


# -- modes and ceilings ----------------------------------------------------------------------------


@pytest.mark.parametrize(("approval", "expected"), [(True, Mode.ASK), (False, Mode.FREE)])
async def test_without_rules_a_tool_is_as_it_says_itself(approval: bool, expected: Mode) -> None:
    found = await FixedPolicy().refreshed("s")
    assert mode(found, made(approval)) is expected


@given(operator=MODES, approval=st.booleans())
def test_what_the_operator_says_holds(operator: Mode, approval: bool) -> None:
    said = mode(rules(OperatorRule(rule=Rule(mode=operator))), made(approval))
    own = Mode.ASK if approval else Mode.FREE
    assert said is (own if operator is Mode.OWN else operator)


@given(operator=MAYBE, freest=MAYBE, managers=MODES, approval=st.booleans())
def test_managers_never_make_a_tool_freer_than_the_operator_lets_them(
    operator: Mode | None, freest: Mode | None, managers: Mode, approval: bool
) -> None:
    tool = made(approval)
    said = OperatorRule(rule=Rule(mode=operator), managers=freest)
    without, with_them = mode(rules(said), tool), mode(rules(said, Rule(mode=managers)), tool)
    own = Mode.ASK if approval else Mode.FREE
    plain = own if freest is Mode.OWN else freest
    least = min(without.strictness, plain.strictness if plain else without.strictness)
    assert with_them.strictness >= least
    if not objection(tool, said, Rule(mode=managers)):
        assert with_them is (own if managers is Mode.OWN else managers)
    else:
        assert with_them is without


@given(operator=MAYBE, approval=st.booleans())
def test_managers_may_always_switch_a_tool_off(operator: Mode | None, approval: bool) -> None:
    said = OperatorRule(rule=Rule(mode=operator))
    assert mode(rules(said, Rule(mode=Mode.NEVER)), made(approval)) is Mode.NEVER


def test_a_tool_that_asks_by_its_arguments_may_be_made_to_ask_always_and_not_never_to() -> None:
    tool = made(lambda arguments: arguments["amount"] > 5)
    assert mode(rules(), tool, amount=1) is Mode.FREE
    assert mode(rules(managers=Rule(mode=Mode.ASK)), tool, amount=1) is Mode.ASK
    assert "not freer" in objection(tool, UNSAID, Rule(mode=Mode.FREE))
    assert mode(rules(managers=Rule(mode=Mode.FREE)), tool, amount=6) is Mode.ASK


def test_managers_may_shorten_how_long_a_request_lives() -> None:
    hour, day = timedelta(hours=1), timedelta(days=1)
    tool, said = made(), OperatorRule(rule=Rule(expires_in=day))
    assert within(tool, said, Rule(expires_in=hour)).expires_in == hour
    assert within(tool, OperatorRule(rule=Rule(expires_in=hour)), Rule(expires_in=day)) == Rule(
        expires_in=hour
    )
    assert rules(managers=Rule(expires_in=day)).of(tool).expires_in == day


# -- who may approve -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "actor", "allowed"),
    [
        ("moderator", Actor(user_id="user-2", moderator=True), True),
        ("moderator", Actor(user_id="user-2"), False),
        ("owner", Actor(user_id="user-2", moderator=True), False),
        ("role:7", Actor(user_id="user-2", owner=True), True),
        ("role:7", Actor(user_id="user-2", roles=frozenset({"7"})), True),
        ("role:7", Actor(user_id="user-2", roles=frozenset({"77"})), False),
        ("user:2", Actor(user_id="user-2"), True),
        ("requester", Actor(user_id="user-1"), True),
        ("requester", Actor(user_id="user-2"), False),
        ("two_person", Actor(user_id="user-1"), False),
        ("two_person", Actor(user_id="user-2"), True),
        ("two_person, moderator", Actor(user_id="user-1", moderator=True, owner=True), False),
        ("two_person, moderator", Actor(user_id="user-2", moderator=True), True),
    ],
)
def test_who_may_decide_by_rule(words: str, actor: Actor, allowed: bool) -> None:
    tool = made(approvers=words)
    refusal = Rules().refusal(tool, asked(), actor, otherwise=True)
    assert (refusal is None) is allowed


def test_where_no_rule_names_anybody_the_caller_says_who() -> None:
    actor = Actor(user_id="user-2")
    for which in (made(), None):
        assert Rules().refusal(which, asked(), actor, otherwise=True) is None
        refused = Rules().refusal(which, asked(), actor, otherwise=False)
        assert refused is not None
        assert not refused.by_rule


WORDS = st.sets(st.sampled_from(["moderator", "owner", "role:1", "user:2", "two_person"]))


@given(WORDS.filter(bool))
def test_approvers_are_what_their_words_say(words: set[str]) -> None:
    assert set(Approvers.of(words).words) == words
    assert Approvers.of(", ".join(words)) == Approvers.of(words)


@given(upper=WORDS.filter(bool), lower=WORDS.filter(bool))
def test_two_persons_stay_two(upper: set[str], lower: set[str]) -> None:
    both = Approvers.of(upper).over(Approvers.of(lower))
    assert both.two_person is ("two_person" in upper | lower)


def test_a_requester_who_may_approve_loses_that_where_it_takes_two() -> None:
    both = Approvers(requester=True).over(Approvers(two_person=True))
    assert both == Approvers(moderator=True, two_person=True)


@pytest.mark.parametrize("wrong", ["anybody", "role:x", "user:0"])
def test_a_word_that_names_nobody_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        Approvers.of(wrong)


def test_managers_name_approvers_where_nobody_else_has() -> None:
    role, tool = Rule(approvers=Approvers.of("role:7")), made()
    assert within(tool, UNSAID, role) == role
    fixed = OperatorRule(rule=Rule(approvers=Approvers.of("owner")))
    assert within(tool, fixed, role).approvers == Approvers(owner=True)
    both = Rule(approvers=Approvers.of("role:7 two_person"))
    assert within(tool, fixed, both).approvers == Approvers(owner=True, two_person=True)


def test_whom_a_tool_names_stays_where_the_operator_says_only_that_it_takes_two() -> None:
    tool = made(approvers=Approvers.of("role:5"))
    operator = OperatorRule(rule=Rule(approvers=Approvers(two_person=True)))
    managers = Rule(approvers=Approvers.of("moderator"))
    assert objection(tool, operator, managers)
    holds = rules(operator, managers).of(tool)
    assert holds.approvers == Approvers.of("role:5 two_person")


def test_managers_let_who_asked_approve_only_where_the_tool_may_be_free() -> None:
    requester = Rule(approvers=Approvers(requester=True))
    assert within(made(), UNSAID, requester).approvers is None
    assert within(made(), OperatorRule(managers=Mode.FREE), requester) == requester


# -- the operator's file ---------------------------------------------------------------------------


def test_a_file_says_rules_for_everywhere_and_for_servers() -> None:
    policy = parse_policy(
        """
        [tools.pay]
        mode = "ask"
        approvers = ["role:7", "two_person"]
        expires_hours = 1.5

        [servers.12.tools.pay]
        mode = "never"
        managers = "free"
        """,
        name="policy.toml",
        known=["pay"],
    )
    everywhere = Rule(
        mode=Mode.ASK, approvers=Approvers.of("role:7 two_person"), expires_in=timedelta(hours=1.5)
    )
    assert policy.of("pay", None) == policy.of("pay", 13) == OperatorRule(rule=everywhere)
    there = policy.of("pay", 12)
    assert (there.rule.mode, there.managers) == (Mode.NEVER, Mode.FREE)
    assert there.rule.approvers == everywhere.approvers
    assert policy.of("other", 12) == UNSAID


def test_a_default_holds_until_a_mode_is_said() -> None:
    off = OperatorRule(rule=Rule(mode=Mode.NEVER), managers=Mode.OWN)
    policy = parse_policy('[tools.pay]\nmode = "never"\n[tools.b]\napprovers="owner"', name="f")
    assert policy.of("pay", None, off).managers is None
    assert policy.of("b", None, off).managers is Mode.OWN


def test_everything_that_is_wrong_with_a_file_is_told_at_once() -> None:
    text = """
        tolls = 1
        [tools.paye]
        [tools.pay]
        mode = "sometimes"
        managers = 3
        approvers = ["anybody"]
        expires_hours = true
        color = "red"
        [tools]
        other = 1
        [servers.home]
        [servers.12]
        tools = 2
        channels = 1
    """.replace("        [tools]\n        other = 1\n", "")
    with pytest.raises(ConfigError) as caught:
        parse_policy(text, name="POLICY_FILE", known=["pay"])
    told = "\n".join(caught.value.problems)
    for where in (
        "tolls is none of tools, servers",
        "tools.paye is about a tool that there is not",
        "tools.pay.mode must be one of free, own, ask, never, not 'sometimes'",
        "tools.pay.managers must be one of",
        "tools.pay.approvers must be requester",
        "tools.pay.expires_hours must be above 0",
        "tools.pay.color is none of",
        "servers.home is named by its id",
        "servers.12.tools must be a table",
        "servers.12.channels is none of tools",
    ):
        assert f"POLICY_FILE: {where}" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("mode =", "is not TOML"),
        ("tools = {pay = 1}", "tools.pay must be a table"),
        ("tools = {pay = {approvers = 1}}", "tools.pay.approvers"),
        ("tools = {pay = {expires_hours = 0}}", "expires_hours must be above 0"),
    ],
)
def test_what_is_no_policy_is_told(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        parse_policy(text, name="POLICY_FILE")


# -- standing yeses --------------------------------------------------------------------------------


def grant(arguments: Mapping[str, Any], free: str = "") -> Grant:
    return Grant(grant_id="g", scope="s", tool="pay", arguments=arguments, free=free)


@pytest.mark.parametrize(
    ("given", "free", "called", "covered"),
    [
        ({"a": 1}, "", {"a": 1}, True),
        ({"a": 1}, "", {"a": 2}, False),
        ({"a": 1}, "", {"a": True}, False),
        ({"a": 1}, "", {"a": 1, "b": 2}, False),
        ({"a": 1, "b": 2}, "a", {"a": [7], "b": 2}, True),
        ({"a": 1, "b": 2}, "a", {"a": 1, "b": 3}, False),
        ({"a": 1, "b": 2}, "a", {"b": 2}, False),
    ],
)
def test_a_standing_yes_covers_exactly_what_was_granted(
    given: Mapping[str, Any], free: str, called: Mapping[str, Any], covered: bool
) -> None:
    assert grant(given, free).covers("pay", called) is covered
    assert not grant(given, free).covers("play", called)


def test_a_standing_yes_frees_what_asks_and_nothing_that_is_off_or_takes_two() -> None:
    yes, session = grant({"amount": 1, "to": ""}), Session("s")
    arguments = {"amount": 1, "to": ""}
    assert mode(rules(UNSAID, NOTHING, yes), made(), **arguments) is Mode.FREE
    assert mode(rules(UNSAID, NOTHING, yes), made(), amount=2, to="") is Mode.ASK
    assert mode(rules(UNSAID, Rule(mode=Mode.NEVER), yes), made(), **arguments) is Mode.NEVER
    two = made(approvers="two_person")
    assert mode(rules(UNSAID, NOTHING, yes), two, **arguments) is Mode.ASK
    assert rules(UNSAID, NOTHING, yes).grant(made(), arguments, session) == yes
    assert rules(UNSAID, NOTHING, yes).grant(made(False), arguments, session) is None


def test_what_holds_is_what_was_decided_last() -> None:
    def change(kind: ChangeKind, subject: str, **body: Any) -> PolicyChange:
        return PolicyChange(scope="s", kind=kind, subject=subject, by="user-1", body=body)

    rule = Rule(mode=Mode.ASK, approvers=Approvers.of("role:7"), expires_in=timedelta(seconds=90))
    yes = change(ChangeKind.GRANT, "pay", **grant_to_json(grant({"a": 1}, "a")))
    other = change(ChangeKind.GRANT, "pay", **grant_to_json(grant({"a": 2})))
    held = standing(
        [
            change(ChangeKind.RULE, "pay", mode="never"),
            change(ChangeKind.RULE, "pay", **rule_to_json(rule)),
            change(ChangeKind.RULE, "other", mode="never"),
            change(ChangeKind.RULE, "other"),
            yes,
            other,
            change(ChangeKind.REVOKE, other.change_id),
        ]
    )
    assert held.rules == {"pay": rule}
    assert list(held.grants) == [yes.change_id]
    assert held.grants[yes.change_id].free == "a"
    assert rule_from({}) == NOTHING


def test_a_rule_ends_the_standing_yeses_before_it() -> None:
    def change(kind: ChangeKind, subject: str, **body: Any) -> PolicyChange:
        return PolicyChange(scope="s", kind=kind, subject=subject, by="user-1", body=body)

    before, after = (
        change(ChangeKind.GRANT, "pay", **grant_to_json(grant({"a": each}))) for each in (1, 2)
    )
    other = change(ChangeKind.GRANT, "play", **grant_to_json(grant({})))
    for rule in (
        change(ChangeKind.RULE, "pay", mode="ask", approvers="owner"),
        change(ChangeKind.RULE, "pay"),
    ):
        held = standing([before, other, rule, after])
        assert list(held.grants) == [other.change_id, after.change_id]


def test_a_sentence_that_fails_says_nothing() -> None:
    assert made(sentence=lambda arguments: str(arguments["missing"])).says({}) == ""
    assert made(sentence=lambda arguments: "Pay.").says({}) == "Pay."
    assert made().says({}) == ""
