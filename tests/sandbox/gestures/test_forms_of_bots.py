"""Select menus and modals: chosen, filled in, and refused."""

from typing import Any

import discord
import pytest
from discord import ui

from bot.sandbox import Answer, Message, Sandbox
from tests.sandbox.answers.test_interactions import Clicked
from tests.sandbox.clients import PATIENCE, Home, Http, running

Interaction = discord.Interaction[Any]


class Menus(ui.View):
    """One menu of each kind that the tests need."""

    def __init__(self) -> None:
        super().__init__(timeout=None)

    @ui.select(
        custom_id="colours",
        placeholder="Pick colours",
        min_values=1,
        max_values=2,
        options=[discord.SelectOption(label=each.title(), value=each) for each in ("red", "blue")],
    )
    async def colours(self, interaction: Interaction, select: ui.Select[Any]) -> None:
        await interaction.response.edit_message(content=f"chose {', '.join(select.values)}")

    @ui.select(cls=ui.UserSelect, custom_id="user")
    async def user(self, interaction: Interaction, select: ui.UserSelect[Any]) -> None:
        await interaction.response.send_message(f"met {select.values[0].name}")

    @ui.select(cls=ui.RoleSelect, custom_id="role")
    async def role(self, interaction: Interaction, select: ui.RoleSelect[Any]) -> None:
        await interaction.response.send_message(f"took {select.values[0].name}")

    @ui.select(cls=ui.ChannelSelect, custom_id="channel")
    async def channel(self, interaction: Interaction, select: ui.ChannelSelect[Any]) -> None:
        await interaction.response.send_message(f"went to {select.values[0].name}")

    @ui.select(cls=ui.MentionableSelect, custom_id="anyone", disabled=True)
    async def anyone(self, interaction: Interaction, _: ui.MentionableSelect[Any]) -> None:
        raise AssertionError


class Survey(ui.Modal, title="Why?"):
    """A form with a text in a row, and what has to stand in labels."""

    reason: ui.TextInput[Any] = ui.TextInput(
        label="Reason", custom_id="reason", min_length=3, max_length=10
    )
    note: ui.TextInput[Any] = ui.TextInput(
        label="Note", custom_id="note", required=False, default="none"
    )
    about: ui.TextDisplay[Any] = ui.TextDisplay("Choose **well**")
    colour: ui.Label[Any] = ui.Label(
        text="Colour",
        component=ui.Select(
            custom_id="colour", options=[discord.SelectOption(label="Red", value="red")]
        ),
    )
    friend: ui.Label[Any] = ui.Label(
        text="Friend", component=ui.UserSelect(custom_id="friend", required=False)
    )

    async def on_submit(self, interaction: Interaction) -> None:
        colour, friend = self.colour.component, self.friend.component
        assert isinstance(colour, ui.Select)
        assert isinstance(friend, ui.UserSelect)
        friends = [each.name for each in friend.values]
        text = f"{self.reason.value}, {self.note.value}, {colour.values}, {friends}"
        await interaction.response.edit_message(content=text)


async def nothing(_: Interaction) -> None:
    """Leave the interaction to the view that it belongs to."""


async def shown(home: Home, client: discord.Client, view: ui.View) -> Message:
    channel = client.get_channel(home.general.id)
    assert isinstance(channel, discord.TextChannel)
    await channel.send("Choose", view=view)
    return await home.general.next_message_from(home.bot)


async def test_one_chooses_from_what_a_bot_lists(home: Home, sandbox: Sandbox) -> None:
    client = Clicked(nothing)
    async with running(client, home.bot):
        message = await shown(home, client, Menus())
        answer = await home.alice.selects(message, "Pick colours", ["red", "Blue"])
        assert answer.text == "chose red, blue"
        assert answer.updated_message is message


async def test_people_roles_and_places_are_chosen(home: Home, sandbox: Sandbox) -> None:
    role = home.guild.role("helpers")
    client = Clicked(nothing)
    async with running(client, home.bot):
        message = await shown(home, client, Menus())
        assert (await home.alice.selects(message, "user", [home.mod])).text == "met mod"
        assert (await home.alice.selects(message, "role", [role])).text == "took helpers"
        went = await home.alice.selects(message, "channel", [home.general])
        assert went.text == "went to general"


async def test_what_cannot_be_chosen(home: Home, sandbox: Sandbox) -> None:
    client = Clicked(nothing)
    async with running(client, home.bot):
        message = await shown(home, client, Menus())
        for values in ([], ["red", "blue", "green"]):
            with pytest.raises(ValueError, match="between 1 and 2"):
                await home.alice.selects(message, "colours", values)
        with pytest.raises(ValueError, match="'green' is not one of"):
            await home.alice.selects(message, "colours", ["green"])
        with pytest.raises(LookupError, match="switched off"):
            await home.alice.selects(message, "anyone", [home.mod])
        with pytest.raises(LookupError, match="nothing to click"):
            await home.alice.clicks(message, "colours")
        with pytest.raises(PermissionError):
            await home.world.person("stranger").selects(message, "colours", ["red"])


async def opened(home: Home, client: Clicked, modal: ui.Modal) -> Answer:
    class Asking(ui.View):
        @ui.button(label="Why?")
        async def why(self, interaction: Interaction, _: ui.Button[Any]) -> None:
            await interaction.response.send_modal(modal)

    return await home.alice.clicks(await shown(home, client, Asking(timeout=None)), "Why?")


class Chosen(ui.Modal, title="Chosen"):
    """A form in which something is chosen already."""

    colour: ui.Label[Any] = ui.Label(
        text="Colour",
        component=ui.Select(
            custom_id="colour",
            options=[
                discord.SelectOption(label="Red", value="red"),
                discord.SelectOption(label="Blue", value="blue", default=True),
            ],
        ),
    )

    async def on_submit(self, interaction: Interaction) -> None:
        assert isinstance(self.colour.component, ui.Select)
        await interaction.response.send_message(f"{self.colour.component.values}")


async def test_what_is_chosen_already_is_sent_off(home: Home, sandbox: Sandbox) -> None:
    client = Clicked(nothing)
    async with running(client, home.bot):
        modal = (await opened(home, client, Chosen())).modal
        assert modal is not None
        assert (await home.alice.submits(modal)).text == "['blue']"


async def test_a_form_is_filled_in(home: Home, sandbox: Sandbox) -> None:
    client = Clicked(nothing)
    async with running(client, home.bot):
        answer = await opened(home, client, Survey())
        assert answer.modal is not None
        labels = [each["label"] for each in answer.modal.inputs]
        assert labels == ["Reason", "Note", "Colour", "Friend"]
        after = await home.alice.submits(
            answer.modal, Reason="because", colour=["red"], friend=[home.mod]
        )
        assert after.text == "because, none, ['red'], ['mod']"
        with pytest.raises(LookupError, match="closed"):
            await home.alice.submits(answer.modal, reason="again", colour=["red"])


async def test_what_a_form_does_not_take(home: Home, sandbox: Sandbox) -> None:
    client = Clicked(nothing)
    async with running(client, home.bot):
        modal = (await opened(home, client, Survey())).modal
        assert modal is not None
        with pytest.raises(ValueError, match="'Reason' is required"):
            await home.alice.submits(modal, colour=["red"])
        with pytest.raises(ValueError, match="3 to 10 characters"):
            await home.alice.submits(modal, reason="no", colour=["red"])
        with pytest.raises(ValueError, match="unknown fields \\['other'\\]"):
            await home.alice.submits(modal, reason="because", colour=["red"], other="x")
        with pytest.raises(ValueError, match="between 1 and 1"):
            await home.alice.submits(modal, reason="because")
        with pytest.raises(PermissionError):
            await home.mod.submits(modal, reason="because", colour=["red"])
        after = await home.alice.submits(modal, reason="because", note="", colour=["Red"])
        assert after.text == "because, , ['red'], []"


async def test_a_form_that_the_bot_does_not_take_stays_open(home: Home, sandbox: Sandbox) -> None:
    class Silent(ui.Modal, title="Silent"):
        text: ui.TextInput[Any] = ui.TextInput(label="Text")

        async def on_submit(self, interaction: Interaction) -> None:
            del interaction

    client = Clicked(nothing)
    async with running(client, home.bot):
        modal = (await opened(home, client, Silent())).modal
        assert modal is not None
        home.world.ack_timeout = 0.02
        assert (await home.alice.submits(modal, Text="x")).failed
        assert not modal.closed


async def test_a_form_that_a_command_opened_has_no_message_to_update(
    home: Home, sandbox: Sandbox
) -> None:
    codes: list[int] = []

    class Plain(ui.Modal, title="Plain"):
        text: ui.TextInput[Any] = ui.TextInput(label="Text")

        async def on_submit(self, interaction: Interaction) -> None:
            for _ in range(2):
                with pytest.raises(discord.HTTPException) as caught:
                    await interaction.response.defer(thinking=False)
                codes.append(caught.value.code)
            await interaction.response.send_message("taken")

    client = Clicked(nothing)

    @client.tree.command(description="Ask")
    async def ask(interaction: Interaction) -> None:
        await interaction.response.send_modal(Plain())

    async with running(client, home.bot):
        await client.tree.sync()
        modal = (await home.alice.runs("/ask", in_=home.general)).modal
        assert modal is not None
        taken = await home.alice.submits(modal, Text="x")
        assert (taken.text, codes) == ("taken", [50035, 50035])


def select(**more: Any) -> Any:
    options = [{"label": "A", "value": "a"}, {"label": "B", "value": "b"}]
    return {"type": 3, "custom_id": "s", "options": options} | more


@pytest.mark.parametrize(
    "menu",
    [
        select(options=[]),
        select(options=None),
        select(options=[{"label": "A", "value": "a"}, {"label": "B", "value": "a"}]),
        select(options=[{"label": "A" * 101, "value": "a"}]),
        select(options=[{"label": "A"}]),
        select(placeholder="x" * 151),
        select(max_values=3),
        select(max_values=26),
        select(min_values=2),
        select(custom_id=None),
    ],
)
async def test_a_menu_that_discord_would_refuse(home: Home, http: Http, menu: Any) -> None:
    body = {"content": "x", "components": [{"type": 1, "components": [menu]}]}
    status, answer = await http("POST", f"/channels/{home.general.id}/messages", body)
    assert (status, answer["code"]) == (400, 50035)


def text_input(**more: Any) -> Any:
    return {"type": 4, "custom_id": "t", "style": 1} | more


def labelled(item: Any, **more: Any) -> Any:
    return {"type": 18, "label": "Label", "component": item} | more


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [{"type": 1}],
        [{"type": 1, "components": [text_input()]}],
        [{"type": 1, "components": [select(label="no menus in rows")]}],
        [{"type": 2}],
        [{"type": 10}],
        [labelled(None)],
        [labelled(text_input(style=3))],
        [labelled(text_input(), label="x" * 46)],
        [labelled(text_input(value="x" * 4001))],
        [labelled(text_input()), labelled(text_input())],
        [labelled(select(disabled=True))],
        [labelled(select(min_values=0))],
        [labelled({"type": 2, "custom_id": "b", "style": 1, "label": "no buttons"})],
        [labelled(text_input(custom_id=str(each))) for each in range(6)],
    ],
)
async def test_a_form_that_discord_would_refuse(home: Home, http: Http, parts: Any) -> None:
    go = {"type": 2, "style": 1, "label": "Go", "custom_id": "go"}
    body = {"content": "x", "components": [{"type": 1, "components": [go]}]}
    await http("POST", f"/channels/{home.general.id}/messages", body)
    message = await home.general.next_message_from(home.bot)
    home.world.ack_timeout = 0.05
    await home.alice.clicks(message, "Go")
    (interaction,) = home.world.interactions.values()
    interaction.lost = False
    home.world.ack_timeout = PATIENCE
    path = f"/interactions/{interaction.id}/{interaction.token}/callback"
    data = {"custom_id": "m", "title": "Form", "components": parts}
    status, answer = await http("POST", path, {"type": 9, "data": data})
    assert (status, answer["code"]) == (400, 50035)
