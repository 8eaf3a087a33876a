"""What an unmodified client of discord.py sees and can do."""

import io

import discord
import pytest

from bot.sandbox import Sandbox, World, serve
from tests.sandbox.clients import PATIENCE, Client, Home, beating, running


def text_channel(client: discord.Client, home: Home) -> discord.TextChannel:
    channel = client.get_channel(home.general.id)
    assert isinstance(channel, discord.TextChannel)
    return channel


async def test_it_logs_in_and_sees_the_guild(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        session = await sandbox.connected(home.bot)
        assert session.bot is home.bot
        guild = client.get_guild(home.guild.id)
        assert guild is not None
        assert [channel.name for channel in guild.text_channels] == ["general"]
        assert {member.name for member in guild.members} >= {"alice", "mod", "Parley"}
    assert home.world.unknown_routes == []
    await sandbox.disconnected(home.bot)
    assert sandbox.connections == []


async def test_nothing_beats_for_a_client_that_is_closed(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        assert beating()
    assert not beating()


async def test_it_logs_in_with_its_number_of_shards_given(home: Home, sandbox: Sandbox) -> None:
    client = Client(shard_count=1)
    async with running(client, home.bot):
        assert client.get_guild(home.guild.id) is not None


async def test_it_gets_a_message_and_replies(home: Home, sandbox: Sandbox) -> None:
    client = Client()

    async def answer(message: discord.Message) -> None:
        await message.reply(f"you said {message.content}")

    client.answer = answer
    async with running(client, home.bot):
        said = await home.alice.says("hello", in_=home.general)
        reply = await home.general.next_message_from(home.bot)
    assert reply.content == "you said hello"
    assert reply.reference is not None
    assert reply.reference.target is said
    assert [ping.who for ping in home.world.pings] == [home.alice]


async def test_blanks_around_a_text_are_not_kept(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        said = await text_channel(client, home).send("  - a\n  - b \n")
        assert said.content == "- a\n  - b"
        edited = await said.edit(content="\n \u200b  x ")
        assert edited.content == "\u200b  x"
    assert (await home.alice.says(" hello\n", in_=home.general)).content == "hello"


async def test_the_last_message_of_each_channel_is_told_at_login(
    home: Home, sandbox: Sandbox
) -> None:
    missed = await home.alice.says("while you were away", in_=home.general)
    client = Client()
    async with running(client, home.bot):
        channel = text_channel(client, home)
        assert channel.last_message_id == missed.id
        assert [each.content async for each in channel.history()] == ["while you were away"]


async def test_history_goes_both_ways_and_around(home: Home, sandbox: Sandbox) -> None:
    said = [await home.alice.says(str(number), in_=home.general) for number in range(7)]
    client = Client()
    async with running(client, home.bot):
        channel = text_channel(client, home)
        middle = discord.Object(said[3].id)
        before = [each.content async for each in channel.history(before=middle, limit=2)]
        after = [each.content async for each in channel.history(after=middle, limit=2)]
        around = [each.content async for each in channel.history(around=middle, limit=3)]
        one = await channel.fetch_message(said[0].id)
    assert (before, after, around) == (["2", "1"], ["4", "5"], ["4", "3", "2"])
    assert one.content == "0"


async def test_files_travel_both_ways(home: Home, sandbox: Sandbox) -> None:
    client = Client()

    async def answer(message: discord.Message) -> None:
        data = await message.attachments[0].read()
        back = discord.File(io.BytesIO(data.upper()), "back.txt", description="louder")
        await message.channel.send("here", file=back)

    client.answer = answer
    async with running(client, home.bot):
        await home.alice.says("", in_=home.general, attachments=[("a b.txt", b"hello")])
        reply = await home.general.next_message_from(home.bot)
    assert [(each.filename, each.data) for each in reply.attachments] == [("back.txt", b"HELLO")]
    assert reply.attachments[0].description == "louder"


async def test_edits_and_deletions_are_seen_by_both(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        heard = client.wait_for("message", timeout=PATIENCE)
        said = await home.alice.says("helo", in_=home.general)
        theirs = await heard
        edited = client.wait_for("message_edit", timeout=PATIENCE)
        await home.alice.edits(said, "hello")
        assert (await edited)[1].content == "hello"
        gone = client.wait_for("message_delete", timeout=PATIENCE)
        await home.alice.deletes(said)
        assert (await gone).id == theirs.id

        mine = await theirs.channel.send("one")
        shown = await home.general.next_message_from(home.bot)
        await mine.edit(content="two")
        await shown.until(lambda message: message.content == "two")
        assert [content for _, content in shown.edits] == ["two"]
        await mine.delete()
        assert shown.deleted
    assert home.general.messages == []


async def test_an_edit_leaves_files_and_takes_and_adds_them(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        channel = text_channel(client, home)
        mine = await channel.send("one", file=discord.File(io.BytesIO(b"1"), "1.txt"))
        shown = await home.general.next_message_from(home.bot)
        mine = await mine.edit(content="two")
        assert [each.filename for each in shown.attachments] == ["1.txt"]
        added = discord.File(io.BytesIO(b"2"), "2.txt")
        mine = await mine.edit(attachments=[mine.attachments[0], added])
        assert [each.filename for each in shown.attachments] == ["1.txt", "2.txt"]
        await mine.edit(attachments=[])
        assert shown.attachments == []


async def test_typing_reactions_and_pins_go_both_ways(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        channel = text_channel(client, home)
        typing = client.wait_for("typing", timeout=PATIENCE)
        await home.alice.types(in_=home.general)
        assert (await typing)[1].name == "alice"
        await channel.typing()
        assert [who for who, _ in home.general.typists] == [home.alice, home.bot]

        mine = await channel.send("vote")
        shown = await home.general.next_message_from(home.bot)
        await mine.add_reaction("👍")
        reacted = client.wait_for(
            "reaction_add", timeout=PATIENCE, check=lambda _, user: user.id != home.bot.id
        )
        await home.alice.reacts(shown, "👍")
        assert (await reacted)[1].name == "alice"
        fetched = await channel.fetch_message(mine.id)
        assert [(each.emoji, each.count, each.me) for each in fetched.reactions] == [
            ("👍", 2, True)
        ]
        assert {user.name async for user in fetched.reactions[0].users()} == {"Parley", "alice"}
        await mine.remove_reaction("👍", discord.Object(home.bot.id))
        assert shown.reactions["👍"] == [home.alice]

        home.guild.grant(home.bot, "PIN_MESSAGES")
        await mine.pin()
        assert [each.id async for each in channel.pins()] == [mine.id]
        await mine.unpin()
        assert home.general.pins == []
    assert home.world.unknown_routes == []


async def test_a_dm_is_opened_from_either_side(home: Home, sandbox: Sandbox) -> None:
    client = Client()

    async def answer(message: discord.Message) -> None:
        assert isinstance(message.channel, discord.DMChannel)
        await message.channel.send("in private")

    client.answer = answer
    async with running(client, home.bot):
        dm = home.alice.dm(home.bot)
        await home.alice.says("psst", in_=dm)
        assert (await dm.next_message_from(home.bot)).content == "in private"

        mod = await client.fetch_user(home.mod.id)
        await mod.send("a word with you")
        told = await home.mod.dm(home.bot).next_message_from(home.bot)
        assert told.content == "a word with you"


async def test_threads_are_opened_used_and_closed(home: Home, sandbox: Sandbox) -> None:
    home.guild.grant(home.bot, "MANAGE_THREADS")
    client = Client()
    async with running(client, home.bot):
        heard = client.wait_for("message", timeout=PATIENCE)
        said = await home.alice.says("a long story", in_=home.general)
        thread = await (await heard).create_thread(name="story", auto_archive_duration=60)
        assert thread.id == said.id
        shown = said.thread
        assert shown is not None
        assert home.general.threads == [shown]

        await thread.send("once upon a time")
        assert (await shown.next_message_from(home.bot)).content == "once upon a time"
        heard = client.wait_for("message", timeout=PATIENCE)
        await home.alice.says("go on", in_=shown)
        assert (await heard).channel.id == thread.id
        assert {each.id for each in await thread.fetch_members()} == {home.bot.id, home.alice.id}

        await thread.add_user(discord.Object(home.mod.id))
        await thread.remove_user(discord.Object(home.mod.id))
        await thread.leave()
        await thread.join()
        await thread.edit(name="the end", archived=True, locked=True)
        assert (shown.name, shown.archived, shown.locked) == ("the end", True, True)
        listed = [each.id async for each in text_channel(client, home).archived_threads()]
        assert listed == [thread.id]
        await thread.delete()
    assert home.general.threads == []
    assert home.world.unknown_routes == []


async def test_a_thread_by_a_person_reaches_the_client(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        created = client.wait_for("thread_create", timeout=PATIENCE)
        thread = await home.alice.opens_thread("ideas", in_=home.general)
        assert (await created).id == thread.id
        guild = client.get_guild(home.guild.id)
        assert guild is not None
        assert [each.id for each in await guild.active_threads()] == [thread.id]
    # Discord says in the channel that a thread was opened; that is nothing anyone wrote.
    assert home.general.messages == []
    assert [each.content for each in home.general.history] == ["ideas"]


async def test_what_is_fetched_is_what_there_is(home: Home, sandbox: Sandbox) -> None:
    role = home.guild.role("helpers", permissions={"MANAGE_MESSAGES"}, mentionable=True)
    home.guild.grant(home.bot, "MANAGE_ROLES", "MANAGE_CHANNELS")
    home.general.topic = "talk"
    client = Client()
    async with running(client, home.bot):
        guild = await client.fetch_guild(home.guild.id)
        assert {each.name for each in await guild.fetch_roles()} >= {"@everyone", "helpers"}
        assert (await guild.fetch_role(role.id)).mentionable
        member = await guild.fetch_member(home.alice.id)
        await member.add_roles(discord.Object(role.id))
        assert role in home.guild.members[home.alice.id].roles
        await member.remove_roles(discord.Object(role.id))
        assert role not in home.guild.members[home.alice.id].roles
        assert len([each async for each in guild.fetch_members()]) == 4
        assert [each.name for each in await guild.fetch_channels()] == ["general"]
        channel = await client.fetch_channel(home.general.id)
        assert isinstance(channel, discord.TextChannel)
        assert channel.topic == "talk"
        await channel.edit(topic="", name="lobby")
        assert (home.general.name, home.general.topic) == ("lobby", "")
        assert (await client.application_info()).name == "Parley"
        assert [each.name async for each in client.fetch_guilds()] == ["Home"]
        await channel.delete()
    assert home.guild.channels == []
    assert home.world.unknown_routes == []


async def test_messages_are_deleted_in_bulk(home: Home, sandbox: Sandbox) -> None:
    home.guild.grant(home.bot, "MANAGE_MESSAGES")
    said = [await home.alice.says(str(number), in_=home.general) for number in range(3)]
    client = Client()
    async with running(client, home.bot):
        channel = text_channel(client, home)
        await channel.delete_messages([discord.Object(each.id) for each in said[:2]])
    assert home.general.messages == said[2:]


async def test_who_comes_and_goes_is_told(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        joined = client.wait_for("member_join", timeout=PATIENCE)
        bob = home.world.person("bob")
        home.guild.join(bob, nick="bobby")
        assert (await joined).nick == "bobby"
        updated = client.wait_for("member_update", timeout=PATIENCE)
        home.guild.give(bob, home.guild.role("new"))
        assert [role.name for role in (await updated)[1].roles] == ["@everyone", "new"]
        left = client.wait_for("member_remove", timeout=PATIENCE)
        home.guild.leave(bob)
        assert (await left).name == "bob"

        away = client.wait_for("guild_remove", timeout=PATIENCE)
        home.guild.leave(home.bot)
        assert (await away).id == home.guild.id
        back = client.wait_for("guild_join", timeout=PATIENCE)
        home.guild.join(home.bot)
        assert (await back).id == home.guild.id


async def test_a_new_channel_and_new_permissions_are_told(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        created = client.wait_for("guild_channel_create", timeout=PATIENCE)
        home.guild.channel("news")
        assert (await created).name == "news"
        updated = client.wait_for("guild_channel_update", timeout=PATIENCE)
        home.guild.permits(home.bot, in_=home.general, deny={"SEND_MESSAGES"})
        me = client.guilds[0].me
        assert not (await updated)[1].permissions_for(me).send_messages


async def test_a_webhook_and_another_bot_speak(home: Home, sandbox: Sandbox) -> None:
    hook = home.world.webhook("ci", in_=home.general)
    other = home.world.person("other", bot=True)
    home.guild.join(other)
    client = Client()
    async with running(client, home.bot):
        heard = client.wait_for("message", timeout=PATIENCE)
        await hook.says("build failed", attachments=[("log.txt", b"...")])
        by_hook = await heard
        assert by_hook.webhook_id == hook.id
        assert by_hook.author.name == "ci"
        heard = client.wait_for("message", timeout=PATIENCE)
        await other.says("beep", in_=home.general)
        assert (await heard).author.bot


async def test_it_comes_back_after_discord_hangs_up(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        first = await sandbox.connected(home.bot)
        await sandbox.disconnect(home.bot)
        assert await sandbox.connected(home.bot) is first
        heard = client.wait_for("message", timeout=PATIENCE)
        await home.alice.says("still there?", in_=home.general)
        assert (await heard).content == "still there?"


async def test_a_wrong_token_is_refused(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    token, home.bot.token = home.bot.token, "changed"
    async with client:
        with pytest.raises(discord.LoginFailure):
            await client.start(token)


async def test_a_privileged_intent_must_be_switched_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    bot = world.bot("Plain", privileged=[])
    async with serve(world) as running_sandbox:
        monkeypatch.setattr(discord.http.Route, "BASE", running_sandbox.api_base)
        async with Client() as client:
            with pytest.raises(discord.PrivilegedIntentsRequired):
                await client.start(bot.token)


async def test_the_world_logs_what_was_asked_of_it(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        await text_channel(client, home).send("hi")
    logged = home.world.requests[-1]
    assert (logged.method, logged.status) == ("POST", 200)
    assert logged.path == f"/api/v10/channels/{home.general.id}/messages"
    assert logged.seconds >= 0
