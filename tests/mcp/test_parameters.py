"""Arguments held to a server's schema: what is shown is what is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import ToolError
from bot.mcp.parameters import SchemaParameters

SCHEMA: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "deep": {"type": "object", "properties": {"n": {"type": "integer", "default": 3}}},
        "force": {"type": "boolean", "default": False},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
    },
    "required": ["path"],
    "additionalProperties": False,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
WRITTEN = st.fixed_dictionaries(
    {}, optional={"path": JSON, "force": JSON, "limit": JSON, "deep": JSON, "other": JSON}
)


def test_the_schema_is_passed_on_but_for_its_dialect() -> None:
    told = SchemaParameters(SCHEMA).schema
    assert told == {key: value for key, value in SCHEMA.items() if key != "$schema"}
    assert SchemaParameters({"type": "object"}).schema == {"type": "object", "properties": {}}


@given(WRITTEN)
def test_effective_arguments_stay_what_they_are(written: dict[str, Any]) -> None:
    parameters = SchemaParameters(SCHEMA)
    try:
        effective = parameters.effective(written)
    except ToolError:
        return
    assert written.items() <= effective.items()
    assert parameters.effective(effective) == effective
    assert parameters.effective(json.dumps(effective)) == effective


def test_defaults_are_filled_in_for_whoever_approves() -> None:
    assert SchemaParameters(SCHEMA).effective('{"path": "x"}') == {
        "path": "x",
        "force": False,
        "limit": None,
    }


def test_defaults_that_would_not_be_valid_are_left_out() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "default": None}, "b": {"default": 1}, "c": True},
    }
    assert SchemaParameters(schema).effective({"c": 2}) == {"c": 2}


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{}", "arguments: 'path' is a required property"),
        ('{"path": 3}', "path: 3 is not of type 'string'"),
        ('{"path": "x", "deep": {"n": "y"}}', "deep.n: 'y' is not of type 'integer'"),
        ('{"path": "x", "b": 1}', r"arguments: Additional properties are not allowed"),
        ("[]", "expected a JSON object"),
        ("{", "not JSON"),
        ('{"path": "x", "limit": NaN}', "cannot be checked"),
        ('{"path": "\\ud800"}', "cannot be checked"),
    ],
)
def test_what_is_wrong_is_told(written: str, told: str) -> None:
    with pytest.raises(ToolError, match=f"Invalid arguments: .*{told}"):
        SchemaParameters(SCHEMA).effective(written)


@pytest.mark.parametrize("schema", [{"type": "no such type"}, {"properties": 3}])
def test_a_schema_that_is_none_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="its schema is not valid"):
        SchemaParameters(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": ["string", "null"]},
        {"properties": {"a": {"default": float("nan")}}},
        {"properties": {"a": {"enum": [float("inf")]}}},
        {"$schema": 5},
        {"$schema": ["x"]},
        {"type": "object", "description": "x" * 200_000},
        {"type": "object", "\ud800": 1},
    ],
)
def test_a_schema_for_which_a_service_would_refuse_every_request_is_refused(
    schema: dict[str, Any],
) -> None:
    with pytest.raises(ValueError, match=r"its schema|takes"):
        SchemaParameters(schema)


def test_what_services_refuse_at_the_top_of_a_schema_is_held_to_and_not_passed_on() -> None:
    both = [{"required": ["a"]}, {"required": ["b"]}]
    schema = {"type": ["object", "null"], "properties": {"a": {}, "b": {}}, "oneOf": both}
    parameters = SchemaParameters(schema)
    assert parameters.schema == {"type": "object", "properties": {"a": {}, "b": {}}}
    assert parameters.effective({"b": 1}) == {"b": 1}
    with pytest.raises(ToolError, match="not valid under any"):
        parameters.effective({})


def test_a_pattern_that_takes_for_ever_is_left_to_the_server() -> None:
    endless = "^(a+)+$"
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": endless}},
        "patternProperties": {endless: {"type": "string"}},
        "additionalProperties": False,
    }
    arguments = {"a": "a" * 200 + "!", "a" * 200 + "!": "x"}
    assert SchemaParameters(schema).effective(arguments) == arguments


def test_nothing_that_a_schema_refers_to_is_fetched() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    with pytest.raises(ToolError, match="cannot be checked"):
        SchemaParameters(schema).effective({"a": 1})
