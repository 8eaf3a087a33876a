"""The provider through the real SDK against a real HTTP server."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import logging
import socket
import subprocess
import sys
import traceback
from contextlib import aclosing
from typing import Any

import pytest

from bot.agent.model.service import (
    Model,
    ModelAnswer,
    ModelRequest,
    ReasoningDelta,
    Reported,
    Retrying,
    TextDelta,
)
from bot.errors import (
    ConfigError,
    ContentRefusedError,
    ContextTooLongError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    RequestRefusedError,
)
from bot.providers import Provider, ProviderType, RetryPolicy
from bot.sandbox.model import Gate, ScriptedModel
from bot.sandbox.model.replies import delta_chunk, sse
from tests.providers.conftest import HELLO, KEY, Make, answer_of, events_of, failure_of

TOOL = {"type": "function", "function": {"name": "roll", "parameters": {"type": "object"}}}


async def test_an_answer_comes_in_deltas_and_then_whole(
    provider: Provider, service: ScriptedModel
) -> None:
    service.says("Hello, it's me.")
    *deltas, reported, answer = await events_of(provider)
    texts = [each.text for each in deltas if isinstance(each, TextDelta)]
    assert (len(texts), "".join(texts)) == (len(deltas), "Hello, it's me.")
    assert isinstance(answer, ModelAnswer)
    assert answer.text == "Hello, it's me."
    assert (answer.model, answer.finish_reason) == ("m", "stop")
    assert answer.usage is not None
    assert answer.usage.input_tokens
    assert reported == Reported(answer.usage)


async def test_the_request_is_what_was_asked(make: Make, service: ScriptedModel) -> None:
    service.says("a").then("b")
    provider = make(extra_body={"temperature": 0.2}, headers={"X-Title": "Parley"})
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "é 😀"}]
    await events_of(provider, ModelRequest(messages=messages, tools=[TOOL]))
    await events_of(provider)
    assert service.requests[0] == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.2,
        "messages": messages,
        "tools": [TOOL],
    }
    assert "tools" not in service.requests[1]
    assert service.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert service.headers[0]["X-Title"] == "Parley"
    assert "OpenAI-Organization" not in service.headers[0]


async def test_tool_calls_arrive(provider: Provider, service: ScriptedModel) -> None:
    service.says("Rolling.", calls=[("roll", {"dice": "2d6"}), ("roll", "{bad")])
    answer = await answer_of(provider)
    assert [(call.tool, call.arguments) for call in answer.tool_calls] == [
        ("roll", '{"dice": "2d6"}'),
        ("roll", "{bad"),
    ]
    assert [call.extra["id"] for call in answer.tool_calls] == ["call_0", "call_1"]
    assert answer.finish_reason == "tool_calls"


async def test_reasoning_is_streamed_and_kept(provider: Provider, service: ScriptedModel) -> None:
    service.chunks([delta_chunk({"reasoning": "hm"}), delta_chunk({"content": "a"}, "stop")])
    *deltas, answer = await events_of(provider)
    assert deltas == [ReasoningDelta("hm"), TextDelta("a")]
    assert isinstance(answer, ModelAnswer)
    assert answer.extra == {"reasoning": "hm"}


@pytest.mark.parametrize(
    "end",
    [
        pytest.param([delta_chunk({}, "stop")], id="finish_reason, no DONE"),
        pytest.param(["[DONE]"], id="DONE, no finish_reason"),
        pytest.param([delta_chunk({}, ""), b"data: [DONE]"], id="DONE without a line end"),
        pytest.param([delta_chunk({}, "stop"), b"data: {bro"], id="cut after finish_reason"),
        pytest.param([delta_chunk({}, "stop"), {"error": {}}], id="an empty error"),
        pytest.param([b"data: [DONE]\n\ndata: {broken}\n\n"], id="noise after DONE"),
    ],
)
async def test_an_answer_that_ended_is_whole(
    provider: Provider, service: ScriptedModel, end: list[Any]
) -> None:
    service.chunks([delta_chunk({"content": "all"}), *end])
    assert (await answer_of(provider)).text == "all"


@pytest.mark.parametrize(
    "end",
    [
        pytest.param([], id="it simply ends"),
        pytest.param([delta_chunk({}, ""), sse({"choices": []})], id="finish_reason empty"),
        pytest.param([b'data: {"choices": [{"del'], id="cut in a chunk"),
        pytest.param([b"data: <html>\n\n"], id="malformed"),
        pytest.param([{"error": {"code": 502}}], id="an error in the stream"),
    ],
)
async def test_an_answer_cut_after_shown_text_is_an_error_and_not_retried(
    provider: Provider, service: ScriptedModel, end: list[Any]
) -> None:
    service.chunks([delta_chunk({"content": "some"}), *end]).says("again")
    seen, error = await failure_of(provider)
    assert seen == [TextDelta("some")]
    assert isinstance(error, ModelUnavailableError)
    assert len(service.requests) == 1


async def test_a_connection_cut_after_shown_text_is_an_error(
    provider: Provider, service: ScriptedModel
) -> None:
    service.breaks_after("some text")
    with pytest.raises(ModelUnavailableError, match="connection broke"):
        await events_of(provider)
    assert len(service.requests) == 1


async def test_a_connection_cut_before_anything_is_asked_again(
    provider: Provider, service: ScriptedModel
) -> None:
    service.breaks_after("").chunks([]).chunks([b"data: no\n\n"]).says("ok")
    events = await events_of(provider)
    assert [type(event) for event in events] == [Retrying] * 3 + [TextDelta, Reported, ModelAnswer]


async def test_the_last_chunk_needs_no_line_end(provider: Provider, service: ScriptedModel) -> None:
    service.chunks([sse(delta_chunk({"content": "all"}, "stop")).rstrip()])
    assert (await events_of(provider))[0] == TextDelta("all")


async def test_an_answer_of_many_megabytes_in_one_line(
    provider: Provider, service: ScriptedModel
) -> None:
    service.chunks([delta_chunk({"content": "x" * 5_000_000}, "stop"), "[DONE]"])
    assert len((await answer_of(provider)).text) == 5_000_000


async def test_503_for_ever_is_a_bounded_number_of_attempts(
    make: Make, service: ScriptedModel
) -> None:
    for _ in range(20):
        service.fails(503)
    waits, error = await failure_of(make(retry=RetryPolicy(max_attempts=3, first_delay=0)))
    assert waits == [Retrying(0.0)] * 2
    assert isinstance(error, ModelUnavailableError)
    assert "503" in str(error)
    assert len(service.requests) == 3


async def test_max_attempts_is_an_option_of_its_own(make: Make, service: ScriptedModel) -> None:
    service.fails(500)
    with pytest.raises(ModelUnavailableError):
        await events_of(make(retry=None, max_attempts=1))
    assert len(service.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 529])
async def test_what_may_pass_is_asked_again(
    provider: Provider, service: ScriptedModel, status: int
) -> None:
    service.fails(status).says("ok")
    retrying, *_, answer = await events_of(provider)
    assert isinstance(retrying, Retrying)
    assert isinstance(answer, ModelAnswer)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, None, ModelRefusedError),
        (403, None, ModelRefusedError),
        (404, None, RequestRefusedError),
        (400, {"error": {"code": "context_length_exceeded"}}, ContextTooLongError),
        (400, {"error": {"code": "content_filter"}}, ContentRefusedError),
        (400, "<html>not json", RequestRefusedError),
    ],
)
async def test_a_refusal_is_typed_and_not_retried(
    provider: Provider, service: ScriptedModel, status: int, body: object, kind: type[ModelError]
) -> None:
    service.fails(status, body)
    with pytest.raises(ModelError) as caught:
        await events_of(provider)
    assert type(caught.value) is kind
    assert len(service.requests) == 1


async def test_a_content_filter_in_the_stream_is_a_refusal(
    provider: Provider, service: ScriptedModel
) -> None:
    service.chunks([delta_chunk({"content": "a"}), delta_chunk({}, "content_filter")])
    with pytest.raises(ContentRefusedError):
        await events_of(provider)


async def test_retry_after_is_waited(provider: Provider, service: ScriptedModel) -> None:
    service.fails(429, headers={"Retry-After-Ms": "20"}).says("ok")
    retrying, *_ = await events_of(provider)
    assert isinstance(retrying, Retrying)
    assert 0.02 <= retrying.delay < 0.03


async def test_a_retry_after_that_is_too_long_is_told_instead(
    provider: Provider, service: ScriptedModel
) -> None:
    service.fails(429, headers={"Retry-After": "3600"})
    with pytest.raises(ModelUnavailableError) as caught:
        await events_of(provider)
    assert caught.value.retry_after == 3600.0
    assert len(service.requests) == 1


async def test_a_service_that_refuses_connections(make: Make) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        provider = make(base_url=f"http://127.0.0.1:{held.getsockname()[1]}/v1")
        waits, error = await failure_of(provider)
    assert [type(wait) for wait in waits] == [Retrying] * 3
    assert isinstance(error, ModelUnavailableError)
    assert str(error) == "the service cannot be reached"


@pytest.mark.parametrize("shown", ["", "some"])
async def test_a_service_that_falls_silent_is_given_up(
    make: Make, service: ScriptedModel, shown: str
) -> None:
    service.hangs(shown)
    provider = make(idle_timeout=0.05, retry=RetryPolicy(max_attempts=1))
    with pytest.raises(ModelUnavailableError, match="in time"):
        await events_of(provider)


async def test_a_slow_answer_has_no_total_limit(
    make: Make, service: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop's clock is moved on before each word, by less than the service may be silent."""
    loop, passed, heard = asyncio.get_running_loop(), 0.0, list[str]()
    gates, now = [Gate() for _ in range(4)], loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + passed)
    items: list[dict[str, Any] | Gate | str] = []
    for gate in gates:
        items += [delta_chunk({"content": " word"}), gate]
    service.chunks([*items, delta_chunk({}, "stop"), "[DONE]"])
    async with aclosing(make(idle_timeout=60.0).stream(HELLO)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                heard.append(event.text)
                gate = gates[len(heard) - 1]
                await gate.reached.wait()
                passed += 30.0
                gate.release()
    assert heard == [" word"] * 4


async def test_leaving_early_closes_the_request(provider: Provider, service: ScriptedModel) -> None:
    gate = service.pauses("some ", "more")
    async with aclosing(provider.stream(HELLO)) as events:
        async for _ in events:
            await gate.reached.wait()
            break
    service.says("next")
    assert (await answer_of(provider)).text == "next"


async def test_a_cancelled_request_leaves_the_provider_usable(
    provider: Provider, service: ScriptedModel
) -> None:
    gate = service.hangs()
    task = asyncio.create_task(events_of(provider))
    await gate.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    service.says("next")
    assert (await answer_of(provider)).text == "next"


async def test_a_connection_is_used_again(make: Make) -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split()[0]))
                body = sse(delta_chunk({"content": "a"}, "stop")) + sse("[DONE]")
                frame = b"%x\r\n%s\r\n" % (len(body), body)
                writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + frame)
                await asyncio.sleep(0.01)  # the end of the response comes in a packet of its own
                writer.write(b"0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        provider = make(base_url=f"http://127.0.0.1:{port}/v1")
        for _ in range(3):
            await events_of(provider)
        await provider.close()
    assert connections == 1


async def test_an_end_that_stays_open_is_not_waited_for(
    provider: Provider, service: ScriptedModel
) -> None:
    service.chunks([delta_chunk({"content": "all"}), "[DONE]", Gate()])
    assert (await answer_of(provider)).text == "all"


async def test_many_requests_at_once_share_one_client(
    provider: Provider, service: ScriptedModel
) -> None:
    service.answers(lambda request: request["messages"][0]["content"])
    requests = [
        ModelRequest(messages=[{"role": "user", "content": f"n{number}"}]) for number in range(20)
    ]
    answers = await asyncio.gather(*(answer_of(provider, request) for request in requests))
    assert [answer.text for answer in answers] == [f"n{number}" for number in range(20)]


async def test_a_closed_provider_opens_again(provider: Provider, service: ScriptedModel) -> None:
    service.says("a").then("b")
    await provider.open()
    await events_of(provider)
    await provider.close()
    await provider.close()
    assert (await answer_of(provider)).text == "b"


async def test_a_script_without_a_reply_is_told_and_not_retried(
    provider: Provider, service: ScriptedModel
) -> None:
    with pytest.raises(ModelRefusedError, match="the script has no reply for request 1"):
        await events_of(provider)
    assert len(service.requests) == 1


async def test_a_key_less_service_is_asked_without_a_secret(
    make: Make, service: ScriptedModel
) -> None:
    service.says("ok").then("ok")
    await events_of(make(provider_type="ollama", api_key=None))
    await events_of(make(provider_type="openai"))
    assert service.headers[0]["Authorization"] == "Bearer none"


async def test_the_first_request_does_not_hold_up_the_loop(
    base_url: str, service: ScriptedModel
) -> None:
    """The SDK takes half a second to import: none of it is imported in the loop's thread."""
    service.says("ok")
    code = f"""
import asyncio, sys, threading
from bot.agent.model.service import ModelRequest
from bot.providers import Provider

imported = {{"here": 0, "elsewhere": 0}}

class Noting:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "openai":
            here = threading.current_thread() is threading.main_thread()
            imported["here" if here else "elsewhere"] += 1

async def main():
    provider = Provider(model="m", base_url="{base_url}")
    request = ModelRequest(messages=[{{"role": "user", "content": "hi"}}])
    async for _ in provider.stream(request):
        pass
    await provider.close()

sys.meta_path.insert(0, Noting())
asyncio.run(main())
print(imported["here"], imported["elsewhere"])
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=-1)
    out, _ = await process.communicate()
    here, elsewhere = map(int, out.split())
    assert elsewhere > 100
    assert here == 0


async def test_what_is_not_json_is_a_typed_refusal(provider: Provider) -> None:
    for content in (float("nan"), object()):
        with pytest.raises(ModelRefusedError, match="could not be sent"):
            await events_of(provider, ModelRequest(messages=[{"content": content}]))


async def test_half_a_character_is_sent_as_a_question_mark(
    provider: Provider, service: ScriptedModel
) -> None:
    service.says("fine")
    await events_of(provider, ModelRequest(messages=[{"role": "user", "content": "a\ud800b"}]))
    assert service.requests[0]["messages"][0]["content"] == "a?b"


@pytest.mark.parametrize("status", [401, 400, 500])
async def test_the_key_is_never_shown(
    make: Make,
    service: ScriptedModel,
    caplog: pytest.LogCaptureFixture,
    status: int,
) -> None:
    caplog.set_level(logging.DEBUG)
    service.fails(status, {"error": {"message": f"bad key {KEY}", "code": KEY}})
    provider = make(retry=RetryPolicy(max_attempts=1))
    with pytest.raises(ModelError) as caught:
        await events_of(provider)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None
    assert KEY not in caplog.text
    assert KEY not in repr(provider) + repr(vars(provider))


async def test_azure_is_asked_in_its_own_way(
    service: ScriptedModel, make: Make, base_url: str
) -> None:
    service.says("ok")
    endpoint = base_url.removesuffix("/v1")
    assert (await answer_of(make(provider_type="azure", base_url=endpoint))).text == "ok"
    assert service.headers[0]["api-key"] == KEY


def test_a_provider_is_a_model() -> None:
    model: Model = Provider(ProviderType.OLLAMA, model="llama")
    assert model.model == "llama"
    assert repr(model) == "Provider('ollama', model='llama')"


@pytest.mark.parametrize("kind", ProviderType)
def test_every_type_is_made_from_key_and_url(kind: ProviderType) -> None:
    Provider(kind, model="m", api_key="k", base_url="http://localhost:1/v1")


def test_all_that_is_missing_is_named_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        Provider(ProviderType.AZURE, model="", api_key="")
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("url", ["localhost:1", "ftp://x", "http://", "http://x:y", "https://[x"])
def test_a_base_url_must_be_one(url: str) -> None:
    with pytest.raises(ConfigError, match="base_url must be"):
        Provider(model="m", base_url=url)


@pytest.mark.parametrize("key", ["sk-1\nx", "sk-é"])
def test_a_key_that_cannot_be_sent_is_refused_untold(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Provider(ProviderType.OPENAI, model="m", api_key=key)
    assert key not in str(caught.value)


def test_importing_and_making_a_provider_imports_no_sdk() -> None:
    code = """
import sys
from bot.providers import Provider
Provider(model="m", base_url="http://127.0.0.1:1/v1")
heavy = {"openai", "pydantic", "httpx", "httpx2"} & set(sys.modules)
sys.exit(f"imported: {heavy}" if heavy else 0)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_another_model_of_the_service_is_asked_by_its_own_name(
    make: Make, service: ScriptedModel
) -> None:
    provider = make(model="m", extra_body={"top_p": 0.5, "seed": 1})
    other = provider.named("n")
    assert provider.named("n") is other
    assert provider.named("m") is provider
    service.says("one").then("two")
    extra = ModelRequest(messages=HELLO.messages, extra={"top_p": 0.25})
    assert (await answer_of(other, extra)).text == "one"
    assert (await answer_of(provider)).text == "two"
    asked = [(each["model"], each["top_p"], each["seed"]) for each in service.requests]
    assert asked == [("n", 0.25, 1), ("m", 0.5, 1)]


async def test_an_answer_that_comes_packed_is_read() -> None:
    body = gzip.compress(sse(delta_chunk({"content": "packed"}, "stop")) + b"data: [DONE]\n\n")
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        provider = Provider(model="m", base_url=f"http://127.0.0.1:{port}")
        assert (await answer_of(provider)).text == "packed"
        await provider.close()
