"""Requests that go wrong on demand."""

import asyncio

import aiohttp
import discord
import pytest

from bot.sandbox import Gate, Refusal, Sandbox
from tests.sandbox.clients import PATIENCE, Client, Home, Http, Whole, running


async def sends(home: Home, http: Http, content: str = "hi") -> Whole:
    return await http.whole("POST", f"/channels/{home.general.id}/messages", {"content": content})


async def test_a_send_fails_before_it_takes_effect(
    home: Home, sandbox: Sandbox, http: Http
) -> None:
    sandbox.faults.next_send(fails=500)
    failed = await sends(home, http)
    assert failed.status == 500
    assert failed.json == {"message": "500: Internal Server Error", "code": 0}
    assert home.general.messages == []
    assert (await sends(home, http)).status == 200
    assert [each.status for each in home.world.requests] == [500, 200]


async def test_a_send_fails_after_it_took_effect(home: Home, sandbox: Sandbox, http: Http) -> None:
    fault = sandbox.faults.next_send(fails=502, after_effect=True, html=True, in_=home.general)
    failed = await sends(home, http)
    assert (failed.status, failed.headers["Server"]) == (502, "cloudflare")
    assert len(home.general.messages) == 1
    assert (fault.hits, fault.is_over) == (1, True)


async def test_faults_come_as_often_as_asked_and_where(
    home: Home, sandbox: Sandbox, http: Http
) -> None:
    other = home.guild.channel("other")
    sandbox.faults.next_send(fails=503, in_=other)
    sandbox.faults.next_send(fails=500, in_=home.general, skip=1, times=2)
    assert [(await sends(home, http)).status for _ in range(4)] == [200, 500, 500, 200]
    answer = await http.whole("POST", f"/channels/{other.id}/messages", {"content": "hi"})
    assert answer.status == 503


async def test_a_fault_without_end_can_be_ended(home: Home, sandbox: Sandbox, http: Http) -> None:
    fault = sandbox.faults.next_send(fails=Refusal.AUTOMOD, times=None)
    assert [(await sends(home, http)).json["code"] for _ in range(3)] == [200000] * 3
    fault.ends()
    assert (await sends(home, http)).status == 200


async def test_a_rate_limit_on_demand_is_waited_for(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        place = client.get_partial_messageable(home.general.id)
        fault = sandbox.faults.next_send(fails=429, retry_after=0.01, times=2)
        await place.send("after all")
    assert fault.is_over
    assert len(home.general.messages) == 1


async def test_an_edit_fails(home: Home, sandbox: Sandbox, http: Http) -> None:
    one, two = (await sends(home, http)).json["id"], (await sends(home, http)).json["id"]
    path = f"/channels/{home.general.id}/messages"
    sandbox.faults.next_edit(fails=Refusal.WRITE_LIMIT, of=home.general.messages[1])
    assert (await http.whole("PATCH", f"{path}/{one}", {"content": "1"})).status == 200
    refused = await http.whole("PATCH", f"{path}/{two}", {"content": "2"})
    assert refused.json["code"] == 20028
    assert [each.content for each in home.general.messages] == ["1", "hi"]


@pytest.mark.parametrize("on_a_message", [True, False])
async def test_a_thread_is_opened_though_it_seems_to_fail(
    home: Home, sandbox: Sandbox, http: Http, on_a_message: bool
) -> None:
    said = await home.alice.says("topic", in_=home.general)
    sandbox.faults.next_thread(fails=504, after_effect=True, in_=home.general)
    below = f"/messages/{said.id}" if on_a_message else ""
    path = f"/channels/{home.general.id}{below}/threads"
    assert (await http.whole("POST", path, {"name": "t"})).status == 504
    assert [each.name for each in home.general.threads] == ["t"]


async def test_any_request_can_be_named(home: Home, sandbox: Sandbox, http: Http) -> None:
    sandbox.faults.next_request("*", "/users/**", fails=500)
    assert (await http.whole("GET", "/gateway/bot")).status == 200
    assert (await http.whole("GET", "/users/@me")).status == 500
    sandbox.faults.next_request("POST", "/channels/*/typing", fails=500)
    assert (await http.whole("POST", f"/channels/{home.general.id}/typing")).status == 500


def test_a_fault_says_what_goes_wrong(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="needs fails="):
        sandbox.faults.next_send(times=3)


@pytest.mark.parametrize("after_effect", [True, False])
async def test_a_connection_is_reset_in_the_place_of_an_answer(
    home: Home, sandbox: Sandbox, http: Http, after_effect: bool
) -> None:
    sandbox.faults.next_send(resets=True, after_effect=after_effect)
    with pytest.raises(aiohttp.ClientOSError, match="reset by peer"):
        await sends(home, http)
    assert len(home.general.messages) == int(after_effect)
    assert home.world.requests[-1].status == 0
    assert (await sends(home, http)).status == 200


async def test_an_answer_waits_for_a_gate(home: Home, sandbox: Sandbox, http: Http) -> None:
    before, after = Gate(), Gate()
    sandbox.faults.next_send(held_by=before)
    sandbox.faults.next_send(held_by=after, after_effect=True)
    first = asyncio.create_task(sends(home, http, "first"))
    await before.reached()
    second = asyncio.create_task(sends(home, http, "second"))
    await after.reached()
    assert not first.done()
    assert not second.done()
    assert [each.content for each in home.general.messages] == ["second"]
    before.release()
    after.release()
    assert [(await each).status for each in (first, second)] == [200, 200]
    assert [each.content for each in home.general.messages] == ["second", "first"]


async def test_what_is_held_up_does_not_hold_up_the_end(home: Home, sandbox: Sandbox) -> None:
    gate = Gate()
    sandbox.faults.next_request("GET", "/gateway/bot", held_by=gate)
    async with aiohttp.ClientSession() as session:
        asked = asyncio.create_task(session.get(sandbox.api_base + "/gateway/bot"))
        await gate.reached()
        sandbox.faults.release_all()
        assert (await asked).status == 401


async def test_discord_py_sends_again_what_was_posted(home: Home, sandbox: Sandbox) -> None:
    # It waits a second before it does; its nonce keeps the message one.
    client = Client()
    async with running(client, home.bot):
        sandbox.faults.next_send(fails=500, after_effect=True)
        sent = await client.get_partial_messageable(home.general.id).send("once")
    statuses = [each.status for each in home.world.requests if each.method == "POST"]
    assert statuses == [500, 200]
    assert [each.id for each in home.general.messages] == [sent.id]


async def test_a_limit_with_a_number_of_its_own_is_waited_for(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        fault = sandbox.faults.next_send(fails=Refusal.SLOW_MODE, retry_after=0.01)
        await client.get_partial_messageable(home.general.id).send("after all")
    assert fault.is_over
    assert len(home.general.messages) == 1


async def test_a_download_is_slow_and_another_is_cut(home: Home, sandbox: Sandbox) -> None:
    files = [("slow.txt", b"slow"), ("cut.txt", b"cut")]
    client, gate = Client(), Gate()
    async with running(client, home.bot):
        heard = client.wait_for("message", timeout=PATIENCE)
        said = await home.alice.says("read these", in_=home.general, attachments=files)
        slow, cut = (await heard).attachments
        sandbox.faults.next_download(of=said.attachments[0], held_by=gate)
        sandbox.faults.next_download(of=said.attachments[1], resets=True)
        # aiohttp asks again by itself on a connection that it has used before.
        sandbox.faults.next_download(of=said.attachments[1], fails=Refusal.UNKNOWN_CHANNEL)
        reading = asyncio.create_task(slow.read())
        await gate.reached()
        with pytest.raises((aiohttp.ClientError, discord.HTTPException)):
            await cut.read()
        assert not reading.done()
        gate.release()
        assert await reading == b"slow"
