"""A small bot of discord.py that does, on a word, each thing that the page has to show."""

import asyncio
import io
import struct
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import discord
from discord import app_commands, ui

from tests.sandbox.clients import Client

Interaction = discord.Interaction[Any]

WORDS = ["Every", "answer", "begins", "small,", "and", "grows", "while", "you", "watch", "it."]
LONG = "\n".join(
    f"{number}. The keeper wrote line {number} into the log." for number in range(1, 71)
)
PROGRAM = "```python\ndef light(lamp):\n    return lamp.on()  # <b>not markup</b>\n```"


class Ask(ui.View):
    """A card that only who manages the server may decide."""

    @ui.button(label="Approve", custom_id="approve", style=discord.ButtonStyle.success)
    async def approve(self, interaction: Interaction, _: ui.Button[Any]) -> None:
        if not interaction.permissions.manage_guild:
            refusal = "You may not decide this. A moderator can."
            await interaction.response.send_message(refusal, ephemeral=True)
            return
        decided = f"**Approved** by {interaction.user.mention}. It ran and ended well."
        await interaction.response.edit_message(content=decided, view=None)

    @ui.button(label="Deny", custom_id="deny", style=discord.ButtonStyle.danger)
    async def deny(self, interaction: Interaction, _: ui.Button[Any]) -> None:
        await interaction.response.edit_message(content="**Denied.**", view=None)


class Stop(ui.View):
    """What stands below an answer that grows."""

    @ui.button(label="Stop", custom_id="stop")
    async def stops(self, interaction: Interaction, _: ui.Button[Any]) -> None:
        await interaction.response.defer()


class Silent(ui.View):
    """A button whose click nobody answers."""

    @ui.button(label="Ask in vain", custom_id="vain")
    async def vain(self, interaction: Interaction, _: ui.Button[Any]) -> None:
        """Say nothing."""


class Colours(ui.View):
    """Menus for one choice, for several, and for people."""

    @ui.select(
        custom_id="colour",
        placeholder="Pick a colour",
        options=[
            discord.SelectOption(label="Red", value="red", description="Warm"),
            discord.SelectOption(label="Blue", value="blue", description="Cold"),
        ],
    )
    async def colour(self, interaction: Interaction, select: ui.Select[Any]) -> None:
        await interaction.response.send_message(f"You chose {select.values[0]}.", ephemeral=True)

    @ui.select(
        custom_id="fruit",
        placeholder="Pick fruit",
        min_values=1,
        max_values=2,
        options=[discord.SelectOption(label=each, value=each) for each in ("Apple", "Pear", "Fig")],
    )
    async def fruit(self, interaction: Interaction, select: ui.Select[Any]) -> None:
        await interaction.response.send_message(f"Fruit: {', '.join(select.values)}")

    @ui.select(cls=ui.UserSelect, custom_id="friend", placeholder="Pick a friend")
    async def friend(self, interaction: Interaction, select: ui.UserSelect[Any]) -> None:
        await interaction.response.send_message(f"Hello {select.values[0].mention}")


class Why(ui.Modal, title="Why?"):
    """A form with a text and a menu."""

    reason: ui.TextInput[Any] = ui.TextInput(
        label="Reason", custom_id="reason", placeholder="Because …", max_length=200
    )
    mood: ui.Label[Any] = ui.Label(
        text="Mood",
        description="How sure you are",
        component=ui.Select(
            custom_id="mood",
            options=[
                discord.SelectOption(label="Sure", value="sure"),
                discord.SelectOption(label="Unsure", value="unsure"),
            ],
        ),
    )

    async def on_submit(self, interaction: Interaction) -> None:
        mood = self.mood.component
        assert isinstance(mood, ui.Select)
        await interaction.response.send_message(f"Because {self.reason.value} ({mood.values[0]})")


class Form(ui.View):
    """A button that opens a form."""

    @ui.button(label="Fill in", custom_id="fill", style=discord.ButtonStyle.primary)
    async def fill(self, interaction: Interaction, _: ui.Button[Any]) -> None:
        await interaction.response.send_modal(Why())


class Talker(Client):
    """Answers the words below; each is a method's name."""

    def __init__(self, *, pace: float = 0.05) -> None:
        super().__init__(allowed_mentions=discord.AllowedMentions.none())
        self.pace = pace
        self.may_begin = asyncio.Event()  # an answer
        self.may_begin.set()
        self.may_go_on = asyncio.Event()  # past the middle of an answer
        self.may_go_on.set()
        self.answer = self.talk
        self.synced = asyncio.Event()
        add_commands(self.tree)

    async def on_ready(self) -> None:
        await self.tree.sync()
        self.synced.set()

    async def says_to_whom(self) -> None:
        """Let /say ask to whom instead of how often."""
        self.tree.remove_command("say")

        @self.tree.command(description="Say it to somebody")
        async def say(interaction: Interaction, text: str, to: discord.User) -> None:
            await interaction.response.send_message(f"{text}, {to.name}")

        await self.tree.sync()

    async def forgets(self, command: str) -> None:
        """Take a command back."""
        self.tree.remove_command(command)
        await self.tree.sync()

    async def talk(self, message: discord.Message) -> None:
        word = message.content.split()[-1].lower() if message.content else ""
        action: Callable[[discord.Message], Awaitable[Any]] | None = getattr(
            self, f"on_{word}", None
        )
        if action is not None and word in WORDS_OF_TALKER:
            await action(message)

    async def on_stream(self, message: discord.Message) -> None:
        async with message.channel.typing():
            await self.may_begin.wait()
        sent = await message.reply(WORDS[0], view=Stop(timeout=None), mention_author=False)
        for count in range(2, len(WORDS) + 1):
            await asyncio.sleep(self.pace)
            if count > len(WORDS) // 2:
                await self.may_go_on.wait()
            await sent.edit(content=" ".join(WORDS[:count]))
        await sent.edit(view=None)

    async def on_long(self, message: discord.Message) -> None:
        whole = f"{LONG}\n{PROGRAM}\n{LONG}"
        for at in range(0, len(LONG), 1900):
            await message.channel.send(LONG[at : at + 1900])
        await message.channel.send(PROGRAM)
        for at in range(0, len(LONG), 1900):
            await message.channel.send(LONG[at : at + 1900])
        assert len(whole) > 5000

    async def on_ask(self, message: discord.Message) -> None:
        text = (
            f"**May I run `announce`?** Asked for by {message.author.mention}, "
            f"expires <t:{int(message.created_at.timestamp()) + 86400}:R>.\n"
            '```json\n{\n  "channel": "announcements",\n  "text": "Dinner is ready"\n}\n```'
        )
        await message.channel.send(text, view=Ask(timeout=None))

    async def on_vain(self, message: discord.Message) -> None:
        await message.channel.send("Go on, click", view=Silent(timeout=None))

    async def on_menus(self, message: discord.Message) -> None:
        await message.channel.send("Choose", view=Colours(timeout=None))

    async def on_form(self, message: discord.Message) -> None:
        await message.channel.send("A form", view=Form(timeout=None))

    async def on_rich(self, message: discord.Message) -> None:
        embed = discord.Embed(title="Weather", description="**Sunny** until noon", colour=0xD0A44C)
        embed.add_field(name="Wind", value="3 knots", inline=True)
        embed.add_field(name="Tide", value="high at 14:10", inline=True)
        embed.set_footer(text="From the lighthouse")
        files = [
            discord.File(io.BytesIO(picture()), "lamp.png"),
            discord.File(io.BytesIO(b"one\ntwo\n"), "log.txt"),
        ]
        await message.channel.send("The report", embed=embed, files=files)
        await message.add_reaction("☀")

    async def on_thread(self, message: discord.Message) -> None:
        thread = await message.create_thread(name="A story")
        await thread.send("It goes on in here.")


WORDS_OF_TALKER = {"stream", "long", "ask", "vain", "menus", "form", "rich", "thread"}


def add_commands(tree: app_commands.CommandTree[Any]) -> None:
    """Add a plain command, one with options, and one that completes."""

    @tree.command(description="Begin this conversation anew")
    async def reset(interaction: Interaction) -> None:
        await interaction.response.send_message("This conversation begins anew.", ephemeral=True)

    @tree.command(description="Say it so often")
    @app_commands.describe(text="What to say", times="How often")
    async def say(
        interaction: Interaction, text: str, times: app_commands.Range[int, 1, 3] = 1
    ) -> None:
        await interaction.response.send_message(" ".join([text] * times))

    @tree.command(description="Let a request run")
    @app_commands.describe(request="Which of those that wait")
    async def approve(interaction: Interaction, request: str) -> None:
        await interaction.response.send_message(f"approved {request}", ephemeral=True)

    @approve.autocomplete("request")
    async def requests(_: Interaction, typed: str) -> list[app_commands.Choice[str]]:
        found = [each for each in ("announce", "delete") if each.startswith(typed.lower())]
        return [app_commands.Choice(name=each.title(), value=f"id-{each}") for each in found]

    @tree.command(description="Answer nothing")
    async def sulk(interaction: Interaction) -> None:
        del interaction


def picture(width: int = 240, height: int = 120) -> bytes:
    """Draw a lamp's light over dark water, as a PNG."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            glow = max(0, 255 - int(((x - 170) ** 2 + (y - 40) ** 2) ** 0.5 * 3))
            rows += bytes((min(255, 24 + glow), min(255, 34 + glow * 4 // 5), 60 + y // 4))

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + checked

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
