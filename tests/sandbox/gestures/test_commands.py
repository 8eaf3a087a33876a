"""Slash commands: registering them, running them, completing their options."""

from typing import Any

import discord
import pytest
from discord import app_commands

from bot.sandbox import Overwrite, Sandbox
from bot.sandbox.resources import interactions
from tests.sandbox.clients import Client, Home, Http, running

Interaction = discord.Interaction[Any]


def client_with_commands() -> Client:
    client = Client()

    @client.tree.command(description="Say it")
    @app_commands.choices(tone=[app_commands.Choice(name="Loud", value="loud")])
    async def say(
        interaction: Interaction,
        text: app_commands.Range[str, 1, 10],
        times: app_commands.Range[int, 1, 3] = 1,
        tone: str = "",
    ) -> None:
        said = " ".join([text] * times)
        await interaction.response.send_message(said.upper() if tone else said)

    @client.tree.command(description="Look at everything")
    async def look(
        interaction: Interaction,
        who: discord.Member,
        where: discord.TextChannel,
        role: discord.Role,
        file: discord.Attachment,
        ratio: float,
        sure: bool,
    ) -> None:
        data = (await file.read()).decode()
        found = f"{who.name} {where.name} {role.name} {data} {ratio} {sure}"
        await interaction.response.send_message(found, ephemeral=True)

    @client.tree.command(description="Approve")
    async def approve(interaction: Interaction, request: str) -> None:
        await interaction.response.defer(ephemeral=True)
        await interaction.followup.send(f"approved {request}")

    @approve.autocomplete("request")
    async def requests(_: Interaction, typed: str) -> list[app_commands.Choice[str]]:
        found = [name for name in ("delete", "deploy", "ban") if name.startswith(typed)]
        return [app_commands.Choice(name=name.title(), value=name) for name in found]

    group = app_commands.Group(name="model", description="Models")

    @group.command(name="use", description="Use a model")
    async def use(interaction: Interaction, name: str) -> None:
        await interaction.response.send_message(f"using {name}")

    @client.tree.command(description="For moderators")
    @app_commands.default_permissions(manage_guild=True)
    @app_commands.guild_only()
    async def reset(interaction: Interaction) -> None:
        await interaction.response.send_message("reset")

    client.tree.add_command(group)
    return client


async def test_commands_are_registered_and_run(home: Home, sandbox: Sandbox) -> None:
    client = client_with_commands()
    async with running(client, home.bot):
        synced = await client.tree.sync()
        assert {each.name for each in synced} == {"say", "look", "approve", "model", "reset"}
        answer = await home.alice.runs("/say", in_=home.general, text="hi", times=2)
        assert (answer.text, answer.ephemeral) == ("hi hi", False)
        answer = await home.alice.runs("/say", in_=home.general, text="hi", tone="Loud")
        assert answer.text == "HI"
        answer = await home.alice.runs("/model use", in_=home.general, name="small")
        assert answer.text == "using small"
        again = await client.tree.sync()
        assert {each.id for each in again} == {each.id for each in synced}
        assert len(await client.tree.fetch_commands()) == 5
    assert home.world.unknown_routes == []


async def test_every_kind_of_option_arrives(home: Home, sandbox: Sandbox) -> None:
    client = client_with_commands()
    role = home.guild.role("helpers")
    async with running(client, home.bot):
        await client.tree.sync()
        answer = await home.mod.runs(
            "/look",
            in_=home.general,
            who=home.alice,
            where=home.general,
            role=role,
            file=("a.txt", b"data"),
            ratio=0.5,
            sure=True,
        )
    assert answer.text == "alice general helpers data 0.5 True"
    assert answer.ephemeral


async def test_an_option_is_completed(home: Home, sandbox: Sandbox) -> None:
    client = client_with_commands()
    async with running(client, home.bot):
        await client.tree.sync()
        choices = await home.mod.completes(
            "/approve", in_=home.general, option="request", typed="de"
        )
        assert choices == [("Delete", "delete"), ("Deploy", "deploy")]
        answer = await home.mod.runs("/approve", in_=home.general, request="delete")
        assert (answer.text, answer.ephemeral, answer.deferred) == ("approved delete", True, True)
        with pytest.raises(LookupError, match="completes no option"):
            await home.mod.completes("/say", in_=home.general, option="text")


async def test_what_completes_nothing_in_time_times_out(home: Home, http: Http) -> None:
    home.world.ack_timeout = 0.01
    option = {"type": 3, "name": "id", "description": "x", "autocomplete": True}
    await registered(home, http, {"name": "find", "description": "x", "options": [option]})
    with pytest.raises(TimeoutError, match="no choices"):
        await home.mod.completes("/find", in_=home.general, option="id")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "missing"),
        ({"text": "hi", "size": 3}, "unknown"),
        ({"text": 3}, "is not str"),
        ({"text": "hi", "times": True}, "is not int"),
        ({"text": "hi", "times": 4}, "between"),
        ({"text": "x" * 11}, "between"),
        ({"text": "hi", "tone": "shrill"}, "one of"),
    ],
)
async def test_a_client_sends_no_wrong_options(
    home: Home, sandbox: Sandbox, options: dict[str, Any], complaint: str
) -> None:
    client = client_with_commands()
    async with running(client, home.bot):
        await client.tree.sync()
        with pytest.raises(ValueError, match=complaint):
            await home.alice.runs("/say", in_=home.general, **options)


async def test_commands_have_permissions_and_places(home: Home, sandbox: Sandbox) -> None:
    client = client_with_commands()
    async with running(client, home.bot):
        await client.tree.sync()
        assert (await home.mod.runs("/reset", in_=home.general)).text == "reset"
        with pytest.raises(PermissionError):
            await home.alice.runs("/reset", in_=home.general)
        dm = home.mod.dm(home.bot)
        with pytest.raises(LookupError, match="no command /reset"):
            await home.mod.runs("/reset", in_=dm)
        assert (await home.mod.runs("/say", in_=dm, text="psst")).text == "psst"
        with pytest.raises(LookupError, match="wants one of"):
            await home.mod.runs("/model", in_=home.general)
        with pytest.raises(LookupError, match="has no 'drop'"):
            await home.mod.runs("/model drop", in_=home.general)
        denied = Overwrite.of(deny={"USE_APPLICATION_COMMANDS"})
        home.general.overwrites[home.alice] = denied
        with pytest.raises(PermissionError):
            await home.alice.runs("/say", in_=home.general, text="hi")


async def test_a_guilds_own_commands_stay_there(home: Home, sandbox: Sandbox) -> None:
    client = client_with_commands()
    elsewhere = home.world.guild("Elsewhere", owner=home.alice).channel("lobby")
    async with running(client, home.bot):
        guild = discord.Object(home.guild.id)
        client.tree.copy_global_to(guild=guild)
        await client.tree.sync(guild=guild)
        assert (await home.alice.runs("/say", in_=home.general, text="hi")).text == "hi"
        with pytest.raises(LookupError):
            await home.alice.runs("/say", in_=elsewhere, text="hi")
        home.world.guilds[-1].join(home.bot)
        with pytest.raises(LookupError):
            await home.alice.runs("/say", in_=elsewhere, text="hi")


async def registered(home: Home, http: Http, *commands: Any) -> tuple[int, Any]:
    path = f"/applications/{home.bot.application_id}/commands"
    status, body = await http("PUT", path, list(commands))
    return status, body


COMMAND = {"name": "go", "description": "Go"}
OPTION = {"type": 3, "name": "a", "description": "x"}


@pytest.mark.parametrize(
    "command",
    [
        "go",
        {"name": "go"},
        {"description": "Go"},
        COMMAND | {"name": "Go"},
        COMMAND | {"name": "go now"},
        COMMAND | {"name": "x" * 33},
        COMMAND | {"description": "x" * 101},
        COMMAND | {"type": 9},
        COMMAND | {"options": [OPTION, OPTION | {"name": "b", "required": True}]},
        COMMAND | {"options": [OPTION | {"type": 12}]},
        COMMAND | {"options": [OPTION] * 26},
        COMMAND | {"options": [OPTION | {"choices": [{"name": "x", "value": "x"}] * 26}]},
    ],
)
async def test_a_malformed_command_is_refused(home: Home, http: Http, command: Any) -> None:
    status, body = await registered(home, http, command)
    assert (status, body["code"]) == (400, 50035)


async def test_names_are_unique_and_counted(home: Home, http: Http) -> None:
    assert (await registered(home, http, COMMAND, COMMAND))[0] == 400
    many = [{"name": f"go{number}", "description": "Go"} for number in range(101)]
    assert (await registered(home, http, *many))[0] == 400
    path = f"/applications/{home.bot.application_id}/commands"
    assert (await http("PUT", path, {}))[1]["code"] == 50109
    assert (await http("GET", "/applications/1/commands"))[1]["code"] == 50001


async def test_single_commands_are_changed(home: Home, http: Http) -> None:
    base = f"/applications/{home.bot.application_id}/guilds/{home.guild.id}/commands"
    _, made = await http("POST", base, COMMAND)
    _, again = await http("POST", base, COMMAND | {"description": "Go on"})
    assert made["id"] == again["id"]
    path = f"{base}/{made['id']}"
    assert (await http("PATCH", path, {"description": "Stay"}))[1]["description"] == "Stay"
    assert (await http("GET", path))[1]["description"] == "Stay"
    assert (await http("DELETE", path))[0] == 204
    assert (await http("GET", path))[1]["code"] == 10063


async def test_choices_are_checked(home: Home, http: Http) -> None:
    kind = interactions.InteractionKind.AUTOCOMPLETE
    asked = interactions.Interaction(home.world, home.bot, home.mod, home.general, kind, {})
    asked.send()
    path = f"/interactions/{asked.id}/{asked.token}/callback"
    for choices in (
        [{"name": "x", "value": "x"}] * 26,
        [{"name": "", "value": "x"}],
        [{"name": "x"}],
        [{"name": "x", "value": True}],
        [{"name": "x", "value": "x" * 101}],
    ):
        body = {"type": 8, "data": {"choices": choices}}
        assert (await http("POST", path, body))[1]["code"] == 50035
    assert (await http("POST", path, {"type": 4, "data": {"content": "x"}}))[0] == 400
