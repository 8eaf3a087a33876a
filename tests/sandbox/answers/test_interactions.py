"""Clicks, and the rules for answering them."""

import asyncio
import io
from collections.abc import Awaitable, Callable
from typing import Any

import discord
import pytest
from discord import ui

from bot.sandbox import Answer, ManualClock, Message, Sandbox
from bot.sandbox.resources.interactions import Interaction, InteractionKind
from tests.sandbox.clients import Client, Home, Http, make_home, running

Handler = Callable[[discord.Interaction[Any]], Awaitable[Any]]


class Clicked(Client):
    """A client whose every component interaction goes to one handler."""

    def __init__(self, handler: Handler) -> None:
        super().__init__()
        self.handler = handler

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        await self.handler(interaction)


def approve() -> ui.View:
    view = ui.View(timeout=None)
    view.add_item(ui.Button(label="Approve", custom_id="approve:1"))
    view.add_item(ui.Button(label="Gone", custom_id="gone", disabled=True))
    view.add_item(ui.Button(label="Docs", url="https://example.org"))
    return view


async def card(home: Home, client: discord.Client) -> Message:
    channel = client.get_channel(home.general.id)
    assert isinstance(channel, discord.TextChannel)
    await channel.send("Delete it?", view=approve())
    return await home.general.next_message_from(home.bot)


async def clicked(home: Home, handler: Handler) -> tuple[Message, Answer]:
    """Return the card and what a click on it came to, once the handler is through."""
    done = asyncio.Event()

    async def whole(interaction: discord.Interaction[Any]) -> None:
        try:
            await handler(interaction)
        finally:
            done.set()

    client = Clicked(whole)
    async with running(client, home.bot):
        shown = await card(home, client)
        answer = await home.mod.clicks(shown, "Approve")
        await done.wait()
        return shown, answer


async def test_a_click_carries_who_where_and_what(home: Home, sandbox: Sandbox) -> None:
    seen: list[discord.Interaction[Any]] = []

    async def handler(interaction: discord.Interaction[Any]) -> None:
        seen.append(interaction)
        await interaction.response.send_message("done", ephemeral=True)

    shown, answer = await clicked(home, handler)
    (interaction,) = seen
    assert interaction.data is not None
    assert interaction.data.get("custom_id") == "approve:1"
    assert interaction.user.id == home.mod.id
    assert interaction.permissions.manage_guild
    assert interaction.message is not None
    assert interaction.message.id == shown.id
    assert interaction.channel_id == home.general.id
    assert interaction.filesize_limit == 10 * 1024 * 1024
    assert (answer.text, answer.ephemeral, answer.failed) == ("done", True, False)
    assert answer.message is not None
    assert answer.message.reference is not None
    assert answer.message.reference.target is shown
    assert home.world.pings == []
    assert home.world.unknown_routes == []


async def test_an_ephemeral_answer_is_not_in_the_channel(home: Home, sandbox: Sandbox) -> None:
    async def handler(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.send_message("only you", ephemeral=True)
        message = await interaction.original_response()
        with pytest.raises(discord.NotFound):
            await interaction.channel.fetch_message(message.id)  # type: ignore[union-attr]

    shown, answer = await clicked(home, handler)
    assert home.general.messages == [shown]
    assert answer.message is not None
    assert answer.message.seen_only_by is home.mod
    with pytest.raises(PermissionError):
        await home.alice.clicks(answer.message, "Approve")


async def test_an_answer_can_carry_a_file(home: Home, sandbox: Sandbox) -> None:
    async def handler(interaction: discord.Interaction[Any]) -> None:
        file = discord.File(io.BytesIO(b"all of it"), "arguments.txt")
        await interaction.response.send_message("see", file=file, ephemeral=True)

    _, answer = await clicked(home, handler)
    assert answer.message is not None
    assert [each.data for each in answer.message.attachments] == [b"all of it"]


async def test_a_click_can_update_its_message(home: Home, sandbox: Sandbox) -> None:
    async def handler(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.edit_message(content="Approved", view=None)

    shown, answer = await clicked(home, handler)
    assert answer.updated_message is shown
    assert (shown.content, shown.components) == ("Approved", [])
    assert answer.text == "Approved"
    assert not answer.deferred


async def test_a_deferred_click_waits_for_what_is_visible(home: Home, sandbox: Sandbox) -> None:
    async def handler(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.defer()
        await interaction.edit_original_response(content="Approved")

    shown, answer = await clicked(home, handler)
    assert answer.deferred
    assert answer.updated_message is shown


async def test_editing_through_the_channel_answers_a_deferred_click(
    home: Home, sandbox: Sandbox
) -> None:
    async def handler(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.defer()
        assert interaction.message is not None
        await interaction.message.edit(content="Approved")

    _, answer = await clicked(home, handler)
    assert answer.text == "Approved"


async def test_a_thinking_answer_is_waited_for(home: Home, sandbox: Sandbox) -> None:
    async def handler(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.defer(thinking=True, ephemeral=True)
        thinking = await interaction.original_response()
        assert thinking.flags.loading
        await interaction.edit_original_response(content="thought")

    _, answer = await clicked(home, handler)
    assert (answer.text, answer.ephemeral, answer.deferred) == ("thought", True, True)


async def test_the_first_followup_takes_the_place_of_thinking(home: Home, sandbox: Sandbox) -> None:
    async def handler(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.defer(thinking=True)
        await interaction.followup.send("thought")
        second = await interaction.followup.send("more", ephemeral=True, wait=True)
        await second.edit(content="more still")
        fetched = await interaction.followup.fetch_message(second.id)
        assert fetched.content == "more still"

    _, answer = await clicked(home, handler)
    await answer.until(lambda each: [m.content for m in each.messages][1:] == ["more still"])
    assert [each.ephemeral for each in answer.messages] == [False, True]
    assert "thought" in [each.content for each in home.general.messages]
    assert "Answer" in repr(answer)


async def test_a_thinking_answer_can_be_taken_back(home: Home, sandbox: Sandbox) -> None:
    async def handler(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.defer(thinking=True)
        await interaction.delete_original_response()
        with pytest.raises(discord.NotFound):
            await interaction.original_response()

    _, answer = await clicked(home, handler)
    assert answer.text == ""
    assert answer.messages == []


async def test_a_followup_is_deleted(home: Home, sandbox: Sandbox) -> None:
    async def handler(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.send_message("one")
        two = await interaction.followup.send("two", wait=True)
        await two.delete()
        await interaction.delete_original_response()

    _, answer = await clicked(home, handler)
    await answer.until(lambda each: not each.messages)


async def test_a_modal_is_kept(home: Home, sandbox: Sandbox) -> None:
    class Why(ui.Modal, title="Why?"):
        reason: ui.TextInput[Any] = ui.TextInput(label="Reason")

    async def handler(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.send_modal(Why())

    _, answer = await clicked(home, handler)
    assert answer.modal is not None
    assert answer.modal.title == "Why?"


async def test_an_answer_comes_once(home: Home, sandbox: Sandbox) -> None:
    codes: list[int] = []

    async def handler(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.send_message("one")
        interaction.response._response_type = None  # what a second process would not know of
        with pytest.raises(discord.HTTPException) as caught:
            await interaction.response.send_message("two")
        codes.append(caught.value.code)

    client = Clicked(handler)
    async with running(client, home.bot):
        await home.mod.clicks(await card(home, client), "Approve")
    assert codes == [40060]


async def test_what_cannot_be_clicked(home: Home, sandbox: Sandbox) -> None:
    async def handler(_: discord.Interaction[Any]) -> None:
        raise AssertionError

    client = Clicked(handler)
    async with running(client, home.bot):
        shown = await card(home, client)
        with pytest.raises(LookupError, match="nothing to click called 'Deny'"):
            await home.mod.clicks(shown, "Deny")
        with pytest.raises(LookupError, match="switched off"):
            await home.mod.clicks(shown, "Gone")
        with pytest.raises(LookupError, match="nothing to click"):
            await home.mod.clicks(shown, "Docs")
        with pytest.raises(PermissionError):
            await home.world.person("stranger").clicks(shown, "Approve")
        posting = home.general.permissions_for(home.bot)
        assert posting
        shown.author = home.alice
        with pytest.raises(LookupError, match="nobody listens"):
            await home.mod.clicks(shown, "Approve")
        shown.deleted = True
        with pytest.raises(LookupError, match="gone"):
            await home.mod.clicks(shown, "Approve")


async def test_who_does_not_answer_has_failed(sandbox: Sandbox, home: Home, http: Http) -> None:
    home.world.ack_timeout = 0.02
    shown = await said_with_button(home, http)
    answer = await home.mod.clicks(shown, "Go")
    assert answer.failed
    assert answer.text == ""
    status, body = await respond(http, answer, {"type": 6})
    assert (status, body["code"]) == (404, 10062)


async def test_an_acknowledgement_alone_is_not_an_answer(home: Home, sandbox: Sandbox) -> None:
    async def handler(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.defer()

    client = Clicked(handler)
    async with running(client, home.bot):
        shown = await card(home, client)
        with pytest.raises(TimeoutError, match="nothing to see"):
            await home.mod.clicks(shown, "Approve", timeout=0.05)


async def said_with_button(home: Home, http: Http) -> Message:
    go = {"type": 2, "style": 1, "label": "Go", "custom_id": "go"}
    body = {"content": "x", "components": [{"type": 1, "components": [go]}]}
    await http("POST", f"/channels/{home.general.id}/messages", body)
    return await home.general.next_message_from(home.bot)


async def respond(http: Http, answer: Answer, body: Any) -> tuple[int, Any]:
    interaction = answer.interaction
    path = f"/interactions/{interaction.id}/{interaction.token}/callback"
    status, answered = await http("POST", path, body)
    return status, answered


class TestByTheClock:
    """The rules about time, and the responses as they travel."""

    @pytest.fixture(name="clock")
    def _clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture(name="home")
    def _home(self, clock: ManualClock) -> Home:
        return make_home(clock=clock)

    @pytest.fixture(name="answer")
    async def _answer(self, home: Home, http: Http) -> Answer:
        """An interaction that nobody has answered yet."""
        shown = await said_with_button(home, http)
        data = {"custom_id": "go", "component_type": 2}
        kind = InteractionKind.COMPONENT
        interaction = Interaction(home.world, home.bot, home.mod, home.general, kind, data, shown)
        interaction.send()
        return Answer(interaction)

    async def test_after_three_seconds_it_is_unknown(
        self, http: Http, answer: Answer, clock: ManualClock
    ) -> None:
        clock.advance(3.01)
        status, body = await respond(http, answer, {"type": 6})
        assert (status, body["code"]) == (404, 10062)

    async def test_at_three_seconds_it_is_in_time(
        self, http: Http, answer: Answer, clock: ManualClock
    ) -> None:
        clock.advance(3)
        assert await respond(http, answer, {"type": 6}) == (204, None)

    async def test_the_token_lives_for_fifteen_minutes(
        self, http: Http, answer: Answer, clock: ManualClock, home: Home
    ) -> None:
        hook = f"/webhooks/{home.bot.application_id}/{answer.interaction.token}"
        assert (await http("POST", hook, {"content": "x"}))[1]["code"] == 10015
        await respond(http, answer, {"type": 6})
        clock.advance(15 * 60)
        assert (await http("POST", hook, {"content": "x"}))[0] == 200
        clock.advance(1)
        status, body = await http("POST", hook, {"content": "x"})
        assert (status, body["code"]) == (401, 50027)
        status, body = await http("PATCH", hook + "/messages/@original", {"content": "x"})
        assert (status, body["code"]) == (401, 50027)

    async def test_the_clock_decides_that_it_failed(
        self, home: Home, http: Http, clock: ManualClock
    ) -> None:
        shown = await said_with_button(home, http)
        click = asyncio.create_task(home.mod.clicks(shown, "Go"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        clock.advance(3)
        assert (await click).failed

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"type": 2},
            {"type": 8, "data": {"choices": []}},
            {"type": 4, "data": {"content": "x" * 2001}},
            {"type": 4, "data": "hi"},
            {"type": 9, "data": {"custom_id": "m", "title": "x" * 46, "components": [{}]}},
            {"type": 9, "data": {"custom_id": "m", "title": "x"}},
            {"type": 5, "data": {"flags": "many"}},
        ],
    )
    async def test_a_malformed_response_is_refused_and_does_not_count(
        self, http: Http, answer: Answer, body: Any
    ) -> None:
        assert (await respond(http, answer, body))[1]["code"] == 50035
        assert (await respond(http, answer, {"type": 1}))[0] == 204
        assert not answer.interaction.is_visible

    async def test_an_empty_response_is_refused(self, http: Http, answer: Answer) -> None:
        assert (await respond(http, answer, {"type": 4, "data": {}}))[1]["code"] == 50006

    async def test_only_its_own_application_may_follow_up(self, http: Http, answer: Answer) -> None:
        await respond(http, answer, {"type": 6})
        hook = f"/webhooks/1/{answer.interaction.token}"
        assert (await http("POST", hook, {"content": "x"}))[1]["code"] == 10015

    async def test_unknown_followups_are_unknown_messages(
        self, http: Http, answer: Answer, home: Home
    ) -> None:
        await respond(http, answer, {"type": 6})
        hook = f"/webhooks/{home.bot.application_id}/{answer.interaction.token}"
        assert (await http("GET", f"{hook}/messages/1"))[1]["code"] == 10008

    async def test_a_command_has_no_message_to_update(
        self, home: Home, http: Http, answer: Answer
    ) -> None:
        answer.interaction.message = None
        assert (await respond(http, answer, {"type": 7, "data": {}}))[1]["code"] == 50035

    async def test_the_wrong_number_is_unknown(self, http: Http, answer: Answer) -> None:
        path = f"/interactions/1/{answer.interaction.token}/callback"
        assert (await http("POST", path, {"type": 6}))[1]["code"] == 10062
