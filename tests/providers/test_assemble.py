"""Chunks to answers: what services really send."""

from __future__ import annotations

from typing import Any

import pytest

from bot.agent.model.service import ModelAnswer, ReasoningDelta, Reported, TextDelta
from bot.errors import (
    ContentRefusedError,
    ContextTooLongError,
    ModelUnavailableError,
    RequestRefusedError,
)
from bot.events import Usage
from bot.providers.assemble import Assembler, Delta
from bot.sandbox.model.replies import chunk, delta_chunk

STOP = delta_chunk({}, "stop")


def fed(*chunks: dict[str, Any]) -> tuple[Assembler, list[Delta]]:
    assembler = Assembler("m")
    return assembler, [delta for each in chunks for delta in assembler.add(each)]


def answer(*chunks: dict[str, Any]) -> ModelAnswer:
    return fed(*chunks)[0].finished()


def calls(*deltas: dict[str, Any]) -> list[tuple[str, str]]:
    chunks = [delta_chunk({"tool_calls": [delta]}) for delta in deltas]
    return [(call.tool, call.arguments) for call in answer(*chunks, STOP).tool_calls]


def call(name: object = None, arguments: object = None, **rest: object) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **rest}


BOTH = [("a", '{"x": 1}'), ("b", "{}")]


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param(
            [
                call("a", "", index=0, id="1"),
                call(None, '{"x"', index=0),
                call("b", "", index=1, id="2"),
                call(None, ": 1}", index=0),
                call(None, "{}", index=1),
            ],
            id="as documented, interleaved",
        ),
        pytest.param(
            [call("a", '{"x": 1}', id="1"), call("b", "{}", id="2")], id="whole, without index"
        ),
        pytest.param(
            [
                call("a", '{"x"', id="1"),
                call(None, ": 1}"),
                call("b", "{", id="2"),
                call("", "}", id=""),
            ],
            id="in pieces, without index",
        ),
        pytest.param(
            [
                call("a", "", index=0, id="1"),
                call(None, '{"x": 1}', index=0, id="1"),
                call("b", "", index=0, id="2"),
                call(None, "{}", index=0, id="2"),
            ],
            id="always index 0, told apart by id",
        ),
        pytest.param(
            [call("a", '{"x": 1}', index=0), call("b", "{}", index=0)],
            id="always index 0, told apart by name",
        ),
        pytest.param(
            [call("a", '{"x": 1}', index=0, id="call_0"), call("b", "{}", index=0, id="call_0")],
            id="always index 0, the same id, told apart by name",
        ),
        pytest.param(
            [
                call("a", '{"x"', index=0, id="1"),
                call("a", ": 1}", index=0, id="1"),
                call("b", "{", index=1, id="2"),
                call("b", "}", index=1, id="2"),
            ],
            id="name and id repeated in each delta",
        ),
        pytest.param(
            [
                call("a", '{"x"', index=0, id="1"),
                call(None, ": 1}", index=0, id="other"),
                call("b", "{}", index=1, id="2"),
            ],
            id="a new id in each delta",
        ),
        pytest.param(
            [
                {"index": 0, "id": "1"},
                call("a", None, index=0),
                call("", '{"x": 1}', index=0),
                call("b", {}, index=1),
            ],
            id="id, name and arguments one by one; arguments as an object",
        ),
        pytest.param(
            [
                call("a", '{"x"', id="1"),
                call("b", "{", id="2"),
                call(None, ": 1}", id="1"),
                call(None, "}", id="2"),
            ],
            id="interleaved, told apart by id alone",
        ),
        pytest.param(
            [call("a", '{"x": 1}', index=7, id="1"), call("b", "{", index=9), call(None, "}")],
            id="indexes with holes, then none",
        ),
        pytest.param(
            [
                call("a", '{"x": 1', index=0, id="1"),
                call(None, "}", index=1),
                call("b", "{}", index=2, id="2"),
            ],
            id="an index that counts the deltas",
        ),
    ],
)
def test_tool_calls_are_told_apart(deltas: list[dict[str, Any]]) -> None:
    assert calls(*deltas) == BOTH


def test_the_same_tool_called_twice_at_index_0_without_ids() -> None:
    twice = [call("roll", '{"d": 6}', index=0), call("roll", '{"d": 6}', index=0)]
    assert calls(*twice) == [("roll", '{"d": 6}')] * 2


def test_a_piece_that_begins_with_a_brace_continues_what_is_not_whole() -> None:
    nested = [call("a", '{"x": ', index=0), call("a", '{"y": 1}}', index=0)]
    assert calls(*nested) == [("a", '{"x": {"y": 1}}')]


def test_the_same_tool_called_twice_without_arguments_is_told_apart_by_id() -> None:
    assert calls(call("now", "", index=0, id="1"), call("now", "", index=0, id="2")) == [
        ("now", ""),
        ("now", ""),
    ]


def test_calls_get_our_ids_and_keep_the_service_s() -> None:
    made = answer(
        delta_chunk({"tool_calls": [call("a", "", index=0, id="call_0"), None]}),
        delta_chunk({"tool_calls": [call("a", "", index=1, id="call_0")]}),
        delta_chunk({"tool_calls": [call("a", "", index=2)]}),
        STOP,
    ).tool_calls
    assert len({call.call_id for call in made}) == 3
    assert all(call.call_id.startswith("call-") for call in made)
    assert [call.extra for call in made] == [{"id": "call_0"}, {"id": "call_0"}, {}]


def test_a_call_without_a_name_is_a_broken_answer() -> None:
    with pytest.raises(ModelUnavailableError, match="without a name"):
        calls(call(None, "{}", index=0, id="1"))


def test_opaque_data_of_calls_is_kept() -> None:
    signed = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    first = call("a", "{", index=0, id="1", type="function", **signed)
    second = call("a", "}", index=0, id="1", type="function", piece="x", **signed)
    second["function"]["provider_specific_fields"] = {"n": 1}
    third = call(None, "", index=0, piece="y", nothing=None)
    chunks = [delta_chunk({"tool_calls": [delta]}) for delta in (first, second, third)]
    (made,) = answer(*chunks, STOP).tool_calls
    assert made.extra == {
        "id": "1",
        "piece": "xy",
        "function": {"provider_specific_fields": {"n": 1}},
        **signed,
    }


def test_opaque_data_of_the_message_is_kept() -> None:
    def detail(text: str, index: int, **rest: object) -> dict[str, Any]:
        return {"type": "reasoning.text", "index": index, "text": text, "format": "f", **rest}

    made = answer(
        delta_chunk({"role": "assistant", "content": None, "reasoning_content": "I "}),
        delta_chunk({"reasoning_content": "I ", "reasoning_details": [detail("I ", 0)]}),
        delta_chunk({"reasoning_details": [detail("I ", 0, signature="sig")], "meta": {"a": 1}}),
        delta_chunk({"reasoning_details": [detail("so", 1), "odd"], "meta": {"b": {"c": 1}}}),
        delta_chunk({"reasoning_details": ["odd"], "meta": {"b": {"d": 2}}, "flag": 1}),
        delta_chunk({"reasoning_details": [{"type": "t", "index": 2}]}),
        delta_chunk({"reasoning_details": [{"type": "t", "index": 2, "text": None}]}),
        delta_chunk({"flag": 2, "reasoning_content": None}, "stop"),
    )
    assert made.extra == {
        "reasoning_content": "I I ",
        "reasoning_details": [
            detail("I I ", 0, signature="sig"),
            detail("so", 1),
            *("odd", "odd", {"type": "t", "index": 2}),
        ],
        "meta": {"a": 1, "b": {"c": 1, "d": 2}},
        "flag": 2,
    }


def test_reasoning_is_shown_once_when_it_comes_under_two_names() -> None:
    both = {"reasoning": "hm", "reasoning_content": "hm"}
    assembler, deltas = fed(
        delta_chunk(both), delta_chunk({"reasoning": "ok"}), delta_chunk({"x": 1}), STOP
    )
    assert assembler.finished().reasoning == "hmok"
    assert deltas == [ReasoningDelta("hm"), ReasoningDelta("ok")]


def test_text_comes_as_it_is() -> None:
    parts = [{"type": "text", "text": "c"}, {"type": "thinking"}, "odd"]
    chunks = [delta_chunk({"content": content}) for content in ("a", "", None, "b", parts, 7)]
    assembler, deltas = fed(*chunks, delta_chunk({"refusal": "d"}), STOP)
    assert deltas == [TextDelta("a"), TextDelta("b"), TextDelta("c"), TextDelta("d")]
    assert assembler.finished().text == "abcd"


def test_halves_of_an_emoji_are_joined_and_lone_ones_replaced() -> None:
    halves = [delta_chunk({"content": content}) for content in ("a\ud83d", "\ude00é", "\udc00")]
    arguments = delta_chunk({"tool_calls": [call("a", '{"\ud83d', index=0, x=["\ud800"])]})
    rest = delta_chunk({"tool_calls": [call(None, '\ude00": 1}', index=0)]})
    assembler, deltas = fed(*halves, arguments, rest, STOP)
    assert deltas == [TextDelta("a"), TextDelta("😀é"), TextDelta("\ufffd")]
    (made,) = assembler.finished().tool_calls
    assert made.arguments == '{"😀": 1}'
    assert made.extra == {"x": ["\ufffd"]}


def test_usage_comes_in_a_chunk_of_its_own() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 3},
    }
    made = answer(delta_chunk({"content": "a"}), STOP, chunk(usage=usage), chunk(usage=None))
    assert made.usage == Usage(input_tokens=10, output_tokens=5, cached_tokens=3)
    assert made.finish_reason == "stop"


def test_usage_that_is_odd_is_untold() -> None:
    odd = {"prompt_tokens": "10", "completion_tokens": True, "prompt_tokens_details": None}
    assert answer(STOP, chunk(usage=odd)).usage == Usage()
    wild = {"prompt_tokens": -5, "completion_tokens": 2**70}
    assert answer(STOP, chunk(usage=wild)).usage == Usage()


def test_usage_is_given_as_it_comes_also_of_an_answer_that_is_refused() -> None:
    first, last = {"prompt_tokens": 9, "completion_tokens": 0}, {"prompt_tokens": 9}
    assembler, given = fed(
        chunk(usage=first),
        delta_chunk({"content": "a"}),
        delta_chunk({}, "content_filter"),
        chunk(usage=last),
    )
    assert given == [
        Reported(Usage(input_tokens=9, output_tokens=0)),
        TextDelta("a"),
        Reported(Usage(input_tokens=9)),
    ]
    with pytest.raises(ContentRefusedError):
        assembler.finished()


def test_chunks_without_choices_are_passed_over() -> None:
    odd = [chunk(), chunk(choices=None), chunk(choices=[None]), chunk(choices=[{"delta": None}])]
    assert answer(*odd, delta_chunk({"content": "a"}), STOP).text == "a"


def test_a_whole_message_is_read_like_a_delta() -> None:
    message = {"role": "assistant", "content": "all at once", "tool_calls": [call("a", "{}")]}
    made = answer(chunk(choices=[{"message": message, "finish_reason": "stop"}]))
    assert (made.text, made.tool_calls[0].tool) == ("all at once", "a")


@pytest.mark.parametrize("reason", [None, "", "missing"])
def test_an_answer_without_finish_reason_that_is_done_is_whole(reason: str | None) -> None:
    last = delta_chunk({"tool_calls": [call("a", "{}", index=0)]}, reason)
    if reason == "missing":
        del last["choices"][0]["finish_reason"]
    assembler, _ = fed(last)
    assert not assembler.ended
    with pytest.raises(ModelUnavailableError, match="ended before"):
        assembler.finished()
    assembler.done()
    assert assembler.finished().finish_reason == "tool_calls"


def test_an_answer_without_any_choice_is_none() -> None:
    assembler, _ = fed(chunk(), chunk(choices=None))
    assembler.done()
    with pytest.raises(ModelUnavailableError, match="without a choice"):
        assembler.finished()


@pytest.mark.parametrize("reason", ["content_filter", "content_filter: SAFETY"])
def test_a_content_filter_is_a_refusal(reason: str) -> None:
    with pytest.raises(ContentRefusedError):
        answer(delta_chunk({"content": "a"}), delta_chunk({}, reason))


def test_a_finish_with_an_error_is_one() -> None:
    with pytest.raises(ModelUnavailableError):
        answer(delta_chunk({}, "error"))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": "context_length_exceeded"}, ContextTooLongError),
        ({"code": "content_filter"}, ContentRefusedError),
        ({"code": 400, "message": "bad"}, RequestRefusedError),
        ({"code": "502"}, ModelUnavailableError),
        ("overloaded", ModelUnavailableError),
        ({"type": "server_error", "code": None}, ModelUnavailableError),
    ],
)
def test_an_error_in_the_stream_is_typed_by_its_code(error: object, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        fed(delta_chunk({"content": "a"}), {"error": error})
    assert type(caught.value) is kind
