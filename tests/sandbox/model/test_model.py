"""The model service of the sandbox: scripted, and as a stand-in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import pytest

from bot.sandbox.model import Answer, DemoModel, Failure, Reply, ScriptedModel, serve_model
from bot.sandbox.model.conversation import Conversation
from bot.sandbox.model.demo import answer_to
from bot.sandbox.model.replies import chunk, delta_chunk, pieces, tokens_in

ASK = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}


class Client:
    """Asks the service and reads its events."""

    def __init__(self, session: aiohttp.ClientSession, base_url: str) -> None:
        self._session = session
        self._url = base_url

    async def raw(self, body: Mapping[str, Any] = ASK) -> tuple[int, bytes]:
        url = f"{self._url}/chat/completions"
        async with self._session.post(url, json=body) as response:
            return response.status, await response.read()

    async def chunks(self, body: Mapping[str, Any] = ASK) -> list[dict[str, Any]]:
        _, text = await self.raw(body)
        *events, done, rest = text.decode().split("\n\n")
        assert (done, rest) == ("data: [DONE]", "")
        return [json.loads(event.removeprefix("data: ")) for event in events]

    async def deltas(self, body: Mapping[str, Any] = ASK) -> list[dict[str, Any]]:
        return [chunk["choices"][0]["delta"] for chunk in await self.chunks(body)]

    async def ids(self) -> list[str]:
        parts = [part for delta in await self.deltas() for part in delta.get("tool_calls", ())]
        return [part["id"] for part in parts if "id" in part]

    async def models(self) -> Any:
        async with self._session.get(f"{self._url}/models") as response:
            return await response.json()


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
async def client(model: ScriptedModel) -> AsyncIterator[Client]:
    async with serve_model(model, name="demo") as server, aiohttp.ClientSession() as session:
        assert server.base_url.endswith("/v1")
        yield Client(session, server.base_url)


async def test_a_text_is_streamed_by_words(client: Client, model: ScriptedModel) -> None:
    model.says("Hello  there,\nyou ")
    *deltas, last = await client.chunks()
    words = [each["choices"][0]["delta"]["content"] for each in deltas]
    assert words == ["", "Hello", "  there,", "\nyou", " "]
    assert last["choices"][0]["finish_reason"] == "stop"


async def test_replies_come_in_order_and_requests_are_kept(
    client: Client, model: ScriptedModel
) -> None:
    model.says("a").then("b")
    assert "".join(delta.get("content", "") for delta in await client.deltas()) == "a"
    assert "".join(delta.get("content", "") for delta in await client.deltas()) == "b"
    assert model.requests == [ASK, ASK]
    assert model.headers[0]["Content-Type"] == "application/json"


async def test_calls_are_streamed_in_pieces(client: Client, model: ScriptedModel) -> None:
    model.says(calls=[("roll", {"d": 6}), ("roll", "{bad")])
    *deltas, _ = await client.deltas()
    parts = [part for delta in deltas for part in delta.get("tool_calls", ())]
    texts = ["", ""]
    for part in parts:
        texts[part["index"]] += part["function"]["arguments"]
    assert texts == ['{"d": 6}', "{bad"]


@pytest.mark.parametrize("repeats", [False, True])
async def test_call_ids_repeat_only_when_asked(
    client: Client, model: ScriptedModel, repeats: bool
) -> None:
    model.repeats_ids = repeats
    model.says(calls=[("a", {}), ("b", {})]).then(calls=[("c", {})])
    first, second = await client.ids(), await client.ids()
    assert first == ["call_0", "call_1"]
    assert second == (["call_0"] if repeats else ["call_2"])


async def test_usage_is_told_when_asked_for(client: Client, model: ScriptedModel) -> None:
    model.says("a").then("a")
    *_, last = await client.chunks({**ASK, "stream_options": {"include_usage": True}})
    assert last["choices"] == []
    assert last["usage"]["prompt_tokens"] > 0
    assert not any("usage" in chunk for chunk in await client.chunks())


async def test_a_rule_answers_what_the_script_does_not(
    client: Client, model: ScriptedModel
) -> None:
    def rule(request: Mapping[str, Any]) -> Reply | str:
        text = request["messages"][-1]["content"]
        return Answer("", [("roll", {})]) if text == "roll" else f"you said {text}"

    model.answers(rule).says("first")
    roll = {**ASK, "messages": [{"role": "user", "content": "roll"}]}
    assert {"content": "first"} in await client.deltas()
    assert {"content": " hi"} in await client.deltas()
    assert any("tool_calls" in delta for delta in await client.deltas(roll))


async def test_without_a_reply_the_error_says_for_what(client: Client) -> None:
    status, body = await client.raw()
    assert status == 500
    assert "no reply for request 1, which ends with user: 'hi'" in body.decode()


async def test_recorded_chunks_go_out_as_they_are(client: Client, model: ScriptedModel) -> None:
    model.chunks([{"a": 1}, "[DONE]", b": raw"])
    assert await client.raw() == (200, b'data: {"a": 1}\n\ndata: [DONE]\n\n: raw')


async def test_failures_have_status_body_and_headers(client: Client, model: ScriptedModel) -> None:
    model.fails(503).fails(429, "slow down", {"Retry-After": "1"})
    status, body = await client.raw()
    assert (status, json.loads(body)["error"]["type"]) == (503, "scripted")
    assert await client.raw() == (429, b"slow down")


async def test_a_connection_breaks_after_some_text(client: Client, model: ScriptedModel) -> None:
    model.breaks_after("some text")
    with pytest.raises(aiohttp.ClientPayloadError):
        await client.raw()


async def test_a_pause_waits_for_its_release(client: Client, model: ScriptedModel) -> None:
    gate = model.pauses("before", " after", calls=[("a", {})])
    assert not gate.reached.is_set()
    gate.release()
    deltas = await client.deltas()
    assert gate.reached.is_set()
    assert deltas[0] == {"content": "before"}
    assert {"content": " after"} in deltas


async def test_what_hangs_breaks_when_released(client: Client, model: ScriptedModel) -> None:
    gate = model.hangs("some")
    gate.release()
    with pytest.raises(aiohttp.ClientPayloadError):
        await client.raw()


async def test_a_server_with_a_hanging_request_stops(model: ScriptedModel) -> None:
    gate = model.hangs()
    async with aiohttp.ClientSession() as session:
        async with serve_model(model) as server:
            request = asyncio.create_task(Client(session, server.base_url).raw())
            await gate.reached.wait()
        with pytest.raises(aiohttp.ClientError):
            await request


async def test_models_are_listed(client: Client) -> None:
    listed = await client.models()
    assert [model["id"] for model in listed["data"]] == ["demo"]


@pytest.mark.parametrize("text", ["", " ", "a", " a ", "a\n\nb  c\n", "\u3000x\ty"])
def test_pieces_are_the_whole_text(text: str) -> None:
    assert "".join(pieces(text)) == text


def test_chunks_have_the_fields_of_the_protocol() -> None:
    assert set(delta_chunk({})) == set(chunk()) == {"id", "object", "created", "model", "choices"}


# The stand-in.

PARAMETERS: dict[str, dict[str, Any]] = {
    "announce": {"channel": {}, "text": {}},
    "roll_dice": {"count": {}, "sides": {}},
    "current_time": {},
}
TOOLS = [
    {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": properties}},
    }
    for name, properties in PARAMETERS.items()
]


class Talk:
    """A conversation with the stand-in."""

    def __init__(self, tools: list[dict[str, Any]] = TOOLS) -> None:
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": "Be kind."}]
        self.tools = tools

    def says(self, text: str, who: str = "") -> Answer:
        line = f"[from {who}]\n" if who else ""
        return self.adds({"role": "user", "content": line + text})

    def adds(self, *messages: dict[str, Any]) -> Answer:
        self.messages += messages
        answer = answer_to(Conversation({"messages": self.messages, "tools": self.tools}))
        self.messages.append({"role": "assistant", "content": answer.text})
        return answer

    def told(self, result: str) -> str:
        function = {"name": "announce", "arguments": "{}"}
        call = {"id": "1", "type": "function", "function": function}
        return self.adds(
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": result},
        ).text


@pytest.fixture
def talk() -> Talk:
    return Talk()


ALICE, BOB = "Alice (user-123)", "Bob (user-456)"


def test_it_says_what_it_is(talk: Talk) -> None:
    for text in ("hello", "help", "what do you think of the weather, really"):
        assert "scripted stand-in, no AI model" in talk.says(text).text
    assert talk.says("thanks").text == "You are welcome."


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("my name is alice", "alice"),
        ("Hi! My name is Alice Smith and I like tea.", "Alice Smith"),
        ("call me Al", "Al"),
        ("I am Alice.", "Alice"),
        ("I\u2019m Alice", "Alice"),
    ],
)
def test_it_remembers_a_name(talk: Talk, told: str, name: str) -> None:
    assert talk.says("what's my name?").text == "You have not told me your name yet."
    assert name in talk.says(told).text or "Hello" in told
    assert talk.says("What\u2019s my name?").text == f"You are {name}."
    assert talk.says("hello").text.startswith(f"Hello, {name}!")


def test_it_takes_no_feeling_for_a_name(talk: Talk) -> None:
    talk.says("I'm tired")
    talk.says("I am Very Tired of this")
    assert talk.says("who am I").text == "You have not told me your name yet."


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("remember that the door code is 1234", "what is the door code?"),
        ("Please remember: door code is 1234.", "What's the door code"),
        ("My door code is 1234!", "do you know? what was my door code?"),
    ],
)
def test_it_remembers_facts(talk: Talk, told: str, asked: str) -> None:
    assert talk.says(told).text == "I will remember that."
    assert talk.says(asked).text.endswith("door code is 1234.")


def test_it_keeps_speakers_apart(talk: Talk) -> None:
    talk.says("my name is Ally", ALICE)
    talk.says("remember that the cat is black", ALICE)
    talk.says("remember that the cat is white", BOB)
    assert talk.says("who am i?", BOB).text.endswith("Discord calls you Bob.")
    assert talk.says("who am i?", ALICE).text == "You are Ally."
    assert talk.says("what is the cat?", ALICE).text == "You told me: the cat is black."
    assert talk.says("what is the cat?", BOB).text == "You told me: the cat is white."
    assert "have not told me what the dog is" in talk.says("what is the dog?", BOB).text


def test_the_line_of_the_speaker_is_no_text(talk: Talk) -> None:
    assert "[from" not in talk.says("blah", ALICE).text
    assert talk.says("who am I?", "Carol").text.endswith("Discord calls you Carol.")


def test_it_understands_its_own_summary(talk: Talk) -> None:
    talk.says("my name is Ally", ALICE)
    talk.says("remember that the cat is white", BOB)
    talk.says("remember that tea is green")
    summary = talk.says("Summarize the conversation.").text
    later = Talk()
    later.messages.append({"role": "system", "content": f"Earlier:\n{summary}"})
    assert later.says("who am I?", ALICE).text == "You are Ally."
    assert later.says("what is the cat?", BOB).text == "You told me: the cat is white."
    assert later.says("what is tea?").text == "You told me: tea is green."


def test_its_long_story_is_long_and_has_a_code_block(talk: Talk) -> None:
    story = talk.says("tell me a long story").text
    assert len(story) > 4_000
    assert story.count("```") == 2


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            "Announce “Dinner is ready” in #announcements",
            ("announce", {"channel": "announcements", "text": "Dinner is ready"}),
        ),
        ("please announce hi to <#42>", ("announce", {"channel": "42", "text": "hi"})),
        ("roll a die", ("roll_dice", {"count": 1, "sides": 6})),
        ("roll 3d20 please", ("roll_dice", {"count": 3, "sides": 20})),
        ("What time is it?", ("current_time", {})),
        ("use current_time", ("current_time", {})),
        ('Use roll_dice {"sides": 20}', ("roll_dice", {"sides": 20})),
    ],
)
def test_it_calls_tools_when_asked_plainly(
    talk: Talk, text: str, call: tuple[str, Mapping[str, Any]]
) -> None:
    assert talk.says(text).calls == [call]


def test_it_wants_arguments_that_can_be_read(talk: Talk) -> None:
    answer = talk.says("use roll_dice {sides: 20}")
    assert answer.calls == ()
    assert answer.text == "For roll_dice I would need its arguments as JSON."


def test_it_calls_only_what_it_was_given() -> None:
    answer = Talk(tools=[]).says("roll 2d6")
    assert answer.calls == ()
    assert "roll_dice" in answer.text


def test_a_die_tool_that_tells_nothing_gets_the_usual_notation() -> None:
    tool = {"type": "function", "function": {"name": "roll_dice"}}
    assert Talk(tools=[tool]).says("roll 2d6").calls == [("roll_dice", {"dice": "2d6"})]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("posted as message 7", "Done, announce says: posted as message 7"),
        ("", "Done, announce says: nothing more was said."),
        ("Denied: not now.", "I was not allowed to use announce: Denied: not now. "),
        ("The request was denied by Bob.", "I was not allowed"),
        ('{"status": "denied", "reason": "too loud."}', "I was not allowed to use announce: too"),
        ("expired", "Nobody decided in time"),
        ("The outcome is unknown.", "I do not know whether"),
        ("cancelled", "The request for announce was withdrawn"),
        ("Error: no such channel", "announce did not work: Error: no such channel"),
        ('{"status": 1}', 'Done, announce says: {"status": 1}'),
        ("42", "Done, announce says: 42"),
    ],
)
def test_it_says_what_came_of_a_call(talk: Talk, result: str, said: str) -> None:
    talk.says("announce hi in #a")
    assert talk.told(result).startswith(said)


def test_a_result_without_its_call_is_told_too(talk: Talk) -> None:
    talk.messages = []
    answer = talk.adds({"role": "tool", "tool_call_id": "1", "content": "ok"})
    assert answer.text == "Done, the tool says: ok"


def test_it_reads_content_in_parts(talk: Talk) -> None:
    parts = [{"type": "text", "text": "my name is Al"}, {"type": "image_url"}]
    assert "Al" in talk.adds({"role": "user", "content": parts}).text


async def test_it_is_served_at_its_pace() -> None:
    async with serve_model(DemoModel(delay=0.001)) as server, aiohttp.ClientSession() as session:
        client = Client(session, server.base_url)
        roll = {"messages": [{"role": "user", "content": "roll 1d6"}], "tools": TOOLS}
        assert len(await client.deltas()) > 5
        first = [delta for delta in await client.deltas(roll) if "tool_calls" in delta]
        second = [delta for delta in await client.deltas(roll) if "tool_calls" in delta]
        assert first[0]["tool_calls"][0]["id"] == "call_0"
        assert second[0]["tool_calls"][0]["id"] == "call_1"


def test_a_failure_is_json_unless_it_is_text() -> None:
    assert Failure(500, {"a": 1}).status == 500


# -- its window ------------------------------------------------------------------------------------


async def test_a_request_longer_than_the_window_is_refused_by_the_real_code() -> None:
    model = ScriptedModel().answers(lambda request: "fine")
    async with serve_model(model, window=50) as server, aiohttp.ClientSession() as session:
        client = Client(session, server.base_url)
        status, body = await client.raw({**ASK, "tools": [{"x": "y" * 300}]})
        assert status == 400
        assert json.loads(body)["error"]["code"] == "context_length_exceeded"
        assert (len(server.refused), len(model.requests)) == (1, 0)
        assert (await client.raw(ASK))[0] == 200


async def test_usage_is_counted_as_the_window_is() -> None:
    model = ScriptedModel().says("fine")
    async with serve_model(model, window=50) as server, aiohttp.ClientSession() as session:
        client = Client(session, server.base_url)
        *_, last = await client.chunks({**ASK, "stream_options": {"include_usage": True}})
        assert last["usage"]["prompt_tokens"] == tokens_in(ASK)


@pytest.mark.parametrize("tells", [True, False])
async def test_a_model_tells_its_window_if_it_is_to(tells: bool) -> None:
    async with (
        serve_model(ScriptedModel(), name="m/x", window=50, tells_window=tells) as server,
        aiohttp.ClientSession() as session,
    ):
        told = (await Client(session, server.base_url).models())["data"][0]
        async with session.get(f"{server.base_url}/models/m/x") as response:
            assert await response.json() == told
        async with session.get(f"{server.base_url}/models/none") as response:
            assert response.status == 404
        assert told.get("context_length") == (50 if tells else None)


def test_the_stand_in_summarises_what_it_is_given_as_text() -> None:
    told = (
        "The summary of what came before:\n[from Al (1)] Remember that the code is 7.\n\n"
        "The conversation:\n\n[from Al (1)] my name is Alice\nreally\n\nAssistant: Nice.\n\n"
        "User: my name is Bo"
    )
    request = {
        "messages": [
            {"role": "system", "content": "Summarise the conversation below."},
            {"role": "user", "content": told},
        ]
    }
    summary = answer_to(Conversation(request)).text
    assert summary.splitlines()[1:] == [
        "[from Al (1)] My name is Alice.",
        "[from Al (1)] Remember that code is 7.",
        "[from someone ()] My name is Bo.",
    ]
    again = {"messages": [{"role": "system", "content": summary}, *_asks("what is my name?")]}
    assert answer_to(Conversation(again)).text == "You are Bo."


def _asks(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]
