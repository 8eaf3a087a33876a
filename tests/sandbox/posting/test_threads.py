"""Threads: one a message, locked, archived and private ones."""

from typing import Any

import pytest

from bot.sandbox import Overwrite, Sandbox
from tests.sandbox.clients import PATIENCE, Client, Home, Http, running


async def test_a_message_has_one_thread(home: Home, http: Http) -> None:
    said = await home.alice.says("hello", in_=home.general)
    path = f"/channels/{home.general.id}/messages/{said.id}/threads"
    status, thread = await http("POST", path, {"name": "one"})
    assert (status, thread["id"]) == (200, str(said.id))
    status, body = await http("POST", path, {"name": "two"})
    assert (status, body["code"]) == (400, 160004)


@pytest.mark.parametrize("name", ["", "x" * 101, None, 5])
async def test_a_name_has_1_to_100_characters(home: Home, http: Http, name: Any) -> None:
    said = await home.alice.says("hello", in_=home.general)
    path = f"/channels/{home.general.id}/messages/{said.id}/threads"
    assert (await http("POST", path, {"name": name}))[1]["code"] == 50035


async def test_writing_in_a_thread_takes_its_own_permission(home: Home, http: Http) -> None:
    thread = await home.alice.opens_thread("ideas", in_=home.general)
    path = f"/channels/{thread.id}/messages"
    home.general.overwrites[home.bot] = Overwrite.of(deny={"SEND_MESSAGES"})
    assert (await http("POST", path, {"content": "x"}))[0] == 200
    home.general.overwrites[home.bot] = Overwrite.of(deny={"SEND_MESSAGES_IN_THREADS"})
    assert (await http("POST", path, {"content": "x"}))[1]["code"] == 50013


async def test_a_private_thread_needs_membership(home: Home, http: Http) -> None:
    thread = await home.alice.opens_thread("secret", in_=home.general, private=True)
    path = f"/channels/{thread.id}/messages"
    assert (await http("POST", path, {"content": "x"}))[1]["code"] == 50001
    await home.alice.adds(home.bot, to=thread)
    assert (await http("POST", path, {"content": "x"}))[0] == 200
    assert thread.seen_by(home.mod)  # who may manage threads


async def test_who_is_brought_into_a_private_thread_gets_to_know_it(
    home: Home, sandbox: Sandbox
) -> None:
    thread = await home.alice.opens_thread("secret", in_=home.general, private=True)
    client = Client()
    async with running(client, home.bot):
        joined = client.wait_for("thread_join", timeout=PATIENCE)
        await home.alice.adds(home.bot, to=thread)
        assert (await joined).id == thread.id
        heard = client.wait_for("message", timeout=PATIENCE)
        await home.alice.says("between us", in_=thread)
        assert (await heard).content == "between us"


async def test_posting_opens_an_archived_thread_again(home: Home, http: Http) -> None:
    thread = await home.alice.opens_thread("ideas", in_=home.general)
    await home.alice.archives(thread)
    assert (await http("POST", f"/channels/{thread.id}/messages", {"content": "x"}))[0] == 200
    assert not thread.archived


async def test_a_locked_thread_stays_closed_but_to_moderators(home: Home, http: Http) -> None:
    thread = await home.alice.opens_thread("ideas", in_=home.general)
    await home.mod.archives(thread, lock=True)
    path = f"/channels/{thread.id}/messages"
    assert (await http("POST", path, {"content": "x"}))[1]["code"] == 50083
    thread.archived = False
    assert (await http("POST", path, {"content": "x"}))[1]["code"] == 160005
    with pytest.raises(PermissionError):
        await home.alice.says("x", in_=thread)
    await home.mod.says("last word", in_=thread)


async def test_an_archived_thread_is_not_edited_in_or_joined(home: Home, http: Http) -> None:
    thread = await home.alice.opens_thread("ideas", in_=home.general)
    _, message = await http("POST", f"/channels/{thread.id}/messages", {"content": "x"})
    await home.alice.archives(thread)
    path = f"/channels/{thread.id}/messages/{message['id']}"
    assert (await http("PATCH", path, {"content": "y"}))[1]["code"] == 50083
    assert (await http("PUT", f"{path}/reactions/x/@me"))[1]["code"] == 50083
    path = f"/channels/{thread.id}/thread-members/@me"
    assert (await http("PUT", path))[1]["code"] == 50083
    with pytest.raises(PermissionError, match="archived"):
        await home.alice.runs("/anything", in_=thread)
    thread.archived, thread.locked = False, True
    path = f"/channels/{thread.id}/messages/{message['id']}"
    assert (await http("PATCH", path, {"content": "y"}))[1]["code"] == 160005


async def test_discord_says_in_a_thread_who_was_added_and_its_new_name(
    home: Home, http: Http
) -> None:
    body = {"name": "one", "type": 11}
    _, made = await http("POST", f"/channels/{home.general.id}/threads", body)
    (thread,) = home.general.threads
    await http("PUT", f"/channels/{made['id']}/thread-members/{home.alice.id}")
    await http("PATCH", f"/channels/{made['id']}", {"name": "two"})
    assert [(int(each.kind), each.content) for each in thread.history] == [(1, ""), (4, "two")]
    assert thread.history[0].mentions == [home.alice]
    assert thread.messages == []


async def test_a_thread_is_changed_by_its_owner_or_a_moderator(home: Home, http: Http) -> None:
    theirs = await home.alice.opens_thread("theirs", in_=home.general)
    assert (await http("PATCH", f"/channels/{theirs.id}", {"name": "x"}))[1]["code"] == 50013
    body = {"name": "mine", "type": 11, "auto_archive_duration": 60}
    _, mine = await http("POST", f"/channels/{home.general.id}/threads", body)
    path = f"/channels/{mine['id']}"
    assert (await http("PATCH", path, {"locked": True}))[1]["code"] == 50013
    assert (await http("PATCH", path, {"archived": True}))[0] == 200
    assert (await http("PATCH", path, {"name": "late"}))[1]["code"] == 50083
    assert (await http("PATCH", path, {"archived": False}))[0] == 200
    assert (await http("DELETE", path))[1]["code"] == 50013


async def test_a_thread_without_a_type_is_private(home: Home, http: Http) -> None:
    path = f"/channels/{home.general.id}/threads"
    _, thread = await http("POST", path, {"name": "quiet"})
    assert thread["type"] == 12
    assert thread["member"]["user_id"] == str(home.bot.id)
    _, listed = await http("GET", f"/guilds/{home.guild.id}/threads/active")
    assert [each["id"] for each in listed["threads"]] == [thread["id"]]
    await http("PATCH", f"/channels/{thread['id']}", {"archived": True})
    private = f"/channels/{home.general.id}/threads/archived/private"
    assert (await http("GET", private))[1]["code"] == 50013
    home.guild.grant(home.bot, "MANAGE_THREADS")
    for kind in ("threads/archived/private", "users/@me/threads/archived/private"):
        _, listed = await http("GET", f"/channels/{home.general.id}/{kind}")
        assert [each["id"] for each in listed["threads"]] == [thread["id"]]


async def test_threads_are_opened_only_where_one_may(home: Home, http: Http) -> None:
    thread = await home.alice.opens_thread("ideas", in_=home.general)
    inner = f"/channels/{thread.id}"
    assert (await http("POST", f"{inner}/threads", {"name": "x"}))[1]["code"] == 50024
    assert (await http("GET", f"{inner}/threads/archived/public"))[1]["code"] == 50024
    outer = f"/channels/{home.general.id}"
    assert (await http("GET", f"{outer}/thread-members"))[1]["code"] == 50024
    system = home.general.history[0]
    path = f"{outer}/messages/{system.id}/threads"
    assert (await http("POST", path, {"name": "x"}))[1]["code"] == 50021
    home.general.overwrites[home.bot] = Overwrite.of(deny={"CREATE_PRIVATE_THREADS"})
    assert (await http("POST", f"{outer}/threads", {"name": "x"}))[1]["code"] == 50013
    with pytest.raises(ValueError, match="opened in a channel"):
        await home.alice.opens_thread("nowhere")


async def test_memberships_are_fetched_and_ended(home: Home, http: Http) -> None:
    thread = await home.alice.opens_thread("ideas", in_=home.general)
    base = f"/channels/{thread.id}/thread-members"
    assert (await http("GET", f"{base}/@me"))[1]["code"] == 10007
    assert (await http("PUT", f"{base}/@me"))[0] == 204
    assert (await http("GET", f"{base}/@me"))[1]["user_id"] == str(home.bot.id)
    assert (await http("DELETE", f"{base}/{home.alice.id}"))[1]["code"] == 50013
    assert (await http("PUT", f"{base}/1"))[1]["code"] == 10013


async def test_a_thread_on_a_message_begins_with_what_it_hangs_on(home: Home, http: Http) -> None:
    said = await home.alice.says("hello", in_=home.general)
    thread = await home.alice.opens_thread("story", on=said)
    _, history = await http("GET", f"/channels/{thread.id}/messages")
    assert [(each["type"], each["content"]) for each in history] == [(21, "")]
    assert history[0]["referenced_message"]["id"] == str(said.id)
    assert thread.messages == []
