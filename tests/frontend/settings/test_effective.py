"""What holds: the operator's ceiling, the server's settings, the channel's settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.usage.budgets import Budgets, Limits
from bot.frontend.options import FrontendOptions, ReplyMode
from bot.frontend.settings.effective import Effective, Operator, Source, effective
from bot.frontend.settings.extras import EXTRAS, read
from bot.frontend.settings.own import Answers, ChannelSettings, PromptMode, ServerSettings
from bot.frontend.settings.profiles import profile

OPERATOR = Operator(
    models=("small", "large"),
    prompt="Be brief.",
    fixed="No text approves.",
    extras=frozenset({"temperature"}),
    tools=frozenset({"dice", "clock"}),
    options=FrontendOptions(channel_ids=frozenset({5})),
)
O, S, C = Source.OPERATOR, Source.SERVER, Source.CHANNEL  # noqa: E741 - columns of the table
SILENT: dict[str, Any] = {}
QUIET = {"options": FrontendOptions(answer_buttons=False)}
REPLY, THREAD = ReplyMode.REPLY, ReplyMode.THREAD
DICE, BOTH, NONE = frozenset({"dice"}), frozenset({"dice", "clock"}), frozenset[str]()
WARM, HOT = {"temperature": 1.0}, {"temperature": 9.0}
HELPERS, STAFF = frozenset({20}), frozenset({21})

TABLE: list[tuple[str, dict[str, Any], Any, Any, Any, Source]] = [
    # field, what is otherwise of the operator, the server, the channel: what holds, by whom
    ("model", SILENT, None, None, "small", O),
    ("model", SILENT, "large", None, "large", S),
    ("model", SILENT, "large", "small", "small", C),
    ("model", SILENT, None, "large", "large", C),
    ("model", {"models": ("small",)}, "large", None, "small", O),
    ("model", {"models": ("small", "new")}, "new", "large", "new", S),
    ("model", {"models": ()}, "large", None, "", O),
    ("extras", SILENT, None, None, {}, O),
    ("extras", SILENT, WARM, None, WARM, S),
    ("extras", SILENT, WARM, {"temperature": 0}, {"temperature": 0}, C),
    ("extras", SILENT, HOT, None, {}, O),
    ("extras", SILENT, WARM, HOT, WARM, S),
    ("extras", SILENT, {"seed": 1, **WARM}, None, WARM, S),
    ("extras", {"extras": NONE}, WARM, WARM, {}, O),
    ("extras", {"extras": frozenset({"top_p"})}, WARM, {"top_p": 0.5}, {"top_p": 0.5}, C),
    ("answers", SILENT, None, None, Answers.ALL, O),
    ("answers", {"options": FrontendOptions()}, None, None, Answers.MENTIONS, O),
    ("answers", SILENT, Answers.NOTHING, None, Answers.NOTHING, S),
    ("answers", SILENT, Answers.NOTHING, Answers.MENTIONS, Answers.MENTIONS, C),
    ("reply_mode", SILENT, None, None, THREAD, O),
    ("reply_mode", {"options": FrontendOptions(reply_mode=REPLY)}, None, None, REPLY, O),
    ("reply_mode", SILENT, REPLY, None, REPLY, S),
    ("reply_mode", SILENT, REPLY, THREAD, THREAD, C),
    ("tools", SILENT, None, None, BOTH, O),
    ("tools", SILENT, DICE, None, DICE, S),
    ("tools", SILENT, DICE, BOTH, BOTH, C),
    ("tools", SILENT, BOTH, NONE, NONE, C),
    ("tools", {"tools": DICE}, BOTH, None, DICE, S),
    ("tools", {"tools": NONE}, None, BOTH, NONE, C),
    ("roles", SILENT, None, None, None, O),
    ("roles", SILENT, HELPERS, None, HELPERS, S),
    ("roles", SILENT, HELPERS, STAFF, STAFF, C),
    ("answer_buttons", SILENT, None, None, True, O),
    ("answer_buttons", SILENT, False, None, False, S),
    ("answer_buttons", SILENT, False, True, True, C),
    ("answer_buttons", QUIET, True, True, False, O),
    ("answer_buttons", QUIET, None, None, False, O),
]


@pytest.mark.parametrize(("name", "operator", "server", "channel", "value", "source"), TABLE)
def test_what_holds(
    name: str, operator: dict[str, Any], server: Any, channel: Any, value: Any, source: Source
) -> None:
    found = effective(
        replace(OPERATOR, **operator),
        ServerSettings(**{name: server}),
        ChannelSettings(**{name: channel}),
        frozenset({5}),
    )
    chosen = getattr(found, name)
    assert (chosen.value, chosen.source) == (value, source)


@pytest.mark.parametrize(
    ("name", "span"), [("tokens_per_day", "day"), ("tokens_per_month", "month")]
)
@pytest.mark.parametrize(
    ("operator", "server", "value", "source"),
    [
        (0, None, None, O),
        (0, 500, 500, S),
        (0, 0, None, O),
        (1000, None, 1000, O),
        (1000, 500, 500, S),
        (1000, 0, 1000, O),
        (1000, 1000, 1000, O),
        (1000, 5000, 1000, O),
    ],
)
def test_the_lower_of_two_budgets_holds(
    name: str, span: str, operator: int, server: int | None, value: int | None, source: Source
) -> None:
    options = FrontendOptions(budgets=Budgets(server=Limits(**{span: operator})))
    own: dict[str, Any] = {name: server}
    found = effective(Operator(options=options), ServerSettings(**own), ChannelSettings())
    chosen = getattr(found, name)
    assert (chosen.value, chosen.source) == (value, source)


PERSONAS = {"pirate": "Arr.", "poet": "Rhyme."}
REPLACE, ADD = PromptMode.REPLACE, PromptMode.ADD


@pytest.mark.parametrize(
    ("server", "channel", "told", "source", "persona"),
    [
        ({}, {}, "Be brief.", O, ""),
        ({"prompt": "Be kind."}, {}, "Be brief.\n\nBe kind.", S, ""),
        ({"prompt": "Be kind.", "prompt_mode": ADD}, {}, "Be brief.\n\nBe kind.", S, ""),
        ({"prompt": "Be kind.", "prompt_mode": REPLACE}, {}, "Be kind.", S, ""),
        ({"prompt": "Be kind."}, {"prompt": "Be wise."}, "Be brief.\n\nBe wise.", C, ""),
        ({"prompt_mode": REPLACE}, {"prompt": "Be wise."}, "Be brief.\n\nBe wise.", C, ""),
        ({"prompt": "Be kind."}, {"prompt": "", "prompt_mode": REPLACE}, "", C, ""),
        ({"personas": PERSONAS}, {}, "Be brief.", O, ""),
        ({"personas": PERSONAS}, {"persona": "poet"}, "Rhyme.", C, "poet"),
        ({"personas": PERSONAS, "prompt": "x"}, {"persona": "poet"}, "Rhyme.", C, "poet"),
        ({"personas": PERSONAS}, {"persona": "gone"}, "Be brief.", O, ""),
        ({}, {"persona": "poet", "prompt": "Be wise."}, "Be brief.\n\nBe wise.", C, ""),
    ],
)
def test_which_prompt_is_told(
    server: dict[str, Any], channel: dict[str, Any], told: str, source: Source, persona: str
) -> None:
    found = effective(OPERATOR, ServerSettings(**server), ChannelSettings(**channel))
    assert (found.prompt.value, found.prompt.source, found.persona) == (told, source, persona)
    whole = f"{told}\n\nNo text approves." if told else "No text approves."
    assert found.system_prompt == whole


TEXTS = st.none() | st.text(max_size=5)
OWN = {
    "model": TEXTS,
    "prompt": TEXTS,
    "prompt_mode": st.none() | st.sampled_from(PromptMode),
    "extras": st.none()
    | st.dictionaries(st.sampled_from([*EXTRAS, "other"]), st.floats(allow_nan=False)),
    "answers": st.none() | st.sampled_from(Answers),
    "reply_mode": st.none() | st.sampled_from(ReplyMode),
    "tools": st.none() | st.frozensets(st.sampled_from(["dice", "clock", "gone"])),
    "roles": st.none() | st.frozensets(st.integers(min_value=0)),
    "answer_buttons": st.none() | st.booleans(),
}
SERVERS = st.builds(
    ServerSettings,
    **OWN,
    personas=st.dictionaries(st.text(max_size=5), st.text(max_size=5)),
    tokens_per_day=st.none() | st.integers(min_value=0),
    tokens_per_month=st.none() | st.integers(min_value=0),
)
CHANNELS = st.builds(ChannelSettings, **OWN, persona=TEXTS)
OPERATORS = st.builds(
    Operator,
    models=st.lists(st.text(min_size=1, max_size=5), unique=True).map(tuple),
    fixed=st.just("Fixed."),
    extras=st.frozensets(st.sampled_from([*EXTRAS])),
    tools=st.frozensets(st.sampled_from(["dice", "clock"])),
    options=st.builds(
        FrontendOptions,
        answer_buttons=st.booleans(),
        budgets=st.builds(Budgets, server=st.builds(Limits, st.integers(0, 100))),
    ),
)


@given(OPERATORS, SERVERS, CHANNELS)
def test_nothing_passes_the_ceiling(
    operator: Operator, server: ServerSettings, channel: ChannelSettings
) -> None:
    found = effective(operator, server, channel)
    assert found.model.value in (*operator.models, "")
    assert found.extras.value.keys() <= operator.extras
    assert all(EXTRAS[name].holds(number) for name, number in found.extras.value.items())
    assert found.tools.value <= operator.tools
    assert found.answer_buttons.value <= operator.options.answer_buttons
    assert found.system_prompt.endswith("Fixed.")
    limit = operator.options.budgets.server.day
    assert not limit or 0 < (found.tokens_per_day.value or 0) <= limit


@given(SERVERS, CHANNELS)
def test_what_is_stored_is_read_as_it_was(server: ServerSettings, channel: ChannelSettings) -> None:
    assert ServerSettings.from_json(server.to_json()) == without_empty(server)
    assert ChannelSettings.from_json(channel.to_json()) == without_empty(channel)


def without_empty(own: Any) -> Any:
    return replace(own, extras=own.extras or None)


def test_only_what_is_set_is_stored() -> None:
    assert ServerSettings().to_json() == "{}"
    assert ChannelSettings(answer_buttons=False).to_json() == '{"answer_buttons": false}'


@pytest.mark.parametrize(
    "stored",
    [
        '{"model": 5, "extras": [], "answers": "loudly", "tools": "all", "roles": ["a"]}',
        '{"answer_buttons": 1, "personas": {"a": 1}, "tokens_per_day": true, "prompt": null}',
        '{"extras": {"temperature": "hot"}, "of a newer version": 1}',
        "{}",
    ],
)
def test_what_cannot_be_read_counts_as_not_set(stored: str) -> None:
    assert ServerSettings.from_json(stored) == ServerSettings()


@pytest.mark.parametrize(
    ("name", "written", "number"),
    [("temperature", "0.5", 0.5), ("temperature", " 0,5 ", 0.5), ("max_tokens", "100", 100)],
)
def test_numbers_are_read_as_people_write_them(name: str, written: str, number: float) -> None:
    assert read(name, written) == number


@pytest.mark.parametrize(
    ("name", "written", "why"),
    [
        ("temperature", "hot", "temperature is a number from 0 to 2."),
        ("temperature", "2.1", "temperature is a number from 0 to 2."),
        ("temperature", "nan", "temperature is a number from 0 to 2."),
        ("temperature", "inf", "temperature is a number from 0 to 2."),
        ("max_tokens", "100.5", "max_tokens is a whole number from 16 to 65536."),
    ],
)
def test_numbers_out_of_bounds_are_refused(name: str, written: str, why: str) -> None:
    with pytest.raises(ValueError, match=why.replace(".", r"\.")):
        read(name, written)


def holding(**own: Any) -> Effective:
    return effective(OPERATOR, ServerSettings(**own), ChannelSettings())


def test_an_agent_is_told_only_what_differs() -> None:
    usual = profile(holding())
    assert (usual.model, usual.system_prompt, usual.extra, usual.tools) == (None, None, {}, None)
    other = profile(holding(model="large", prompt="Be kind.", extras=WARM, tools=DICE))
    assert other.model == "large"
    assert other.system_prompt == "Be brief.\n\nBe kind.\n\nNo text approves."
    assert (other.extra, other.tools) == (WARM, DICE)
