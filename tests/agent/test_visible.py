"""What is shown before a decision is exactly what will run."""

import json

from hypothesis import given
from hypothesis import strategies as st

from bot.agent.visible import hides, visible_json

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(json_values)
def test_it_is_exactly_the_value_and_hides_nothing(value: object) -> None:
    text = visible_json(value)
    assert json.loads(text) == value
    assert not any(hides(char) for char in text if char != "\n")


@given(json_values)
def test_it_does_without_what_could_end_a_block(value: object) -> None:
    text = visible_json(value, without="`")
    assert json.loads(text) == value
    assert "`" not in text


def test_letters_stay_readable() -> None:
    assert visible_json({"a": "\u200b\u3164\u00e9\x1b\n"}) == (
        '{\n  "a": "\\u200b\\u3164\u00e9\\u001b\\n"\n}'
    )
