"""Conversations: they remember, they do not mix, and nobody is pinged."""

from bot.frontend.hearing.inbox import EMPTY, STRANGER, STRANGER_TO_SERVERS
from bot.frontend.hearing.seen import BEGINNING
from bot.frontend.options import DMPolicy, ReplyMode
from bot.frontend.rate import TOO_FAST
from bot.sandbox import Overwrite
from bot.sessions.stores.homes import Home, HomeStore
from bot.sessions.stores.places import PlaceStore
from tests.e2e.stage import PATIENCE, Stage
from tests.setups import labels


def answers_with_memory(request: object) -> str:
    """Say how many messages of people the model was given."""
    assert isinstance(request, dict)
    count = sum(each["role"] == "user" for each in request["messages"])
    return f"That makes {count}."


async def test_two_messages_are_one_conversation(stage: Stage) -> None:
    stage.model.says("Hello Alice.").then("You are Alice.")
    async with stage.running():
        opening = await stage.alice.says(f"{stage.bot.mention} I am Alice", in_=stage.general)
        thread = await stage.thread_on(opening)
        await stage.says(thread, "Hello Alice.")
        await stage.alice.says("who am I?", in_=thread)
        await stage.says(thread, "You are Alice.")
    assert thread.name == "I am Alice"
    user = f"[from alice (user-{stage.alice.id})]"
    assert stage.asked[1] == [
        ("user", f"{user}\nI am Alice"),
        ("assistant", "Hello Alice."),
        ("user", f"{user}\nwho am I?"),
    ]


async def test_a_restart_in_between_forgets_nothing(stage: Stage) -> None:
    stage.model.says("Hello Alice.").then("You are Alice.")
    dm = stage.alice.dm(stage.bot)
    async with stage.running():
        await stage.alice.says("I am Alice", in_=dm)
        await stage.says(dm, "Hello Alice.")
    async with stage.running():
        await stage.alice.says("who am I?", in_=dm)
        await stage.says(dm, "You are Alice.")
    assert [text for _, text in stage.asked[1]] == ["I am Alice", "Hello Alice.", "who am I?"]


async def test_what_a_killed_bot_had_begun_is_answered_after_its_restart(stage: Stage) -> None:
    stage.model.hangs(after="Let me")
    stage.model.says("Let me see. Four.")
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        preview = await stage.desk.next_message_from(stage.bot)
        assert preview.content == "Let me …"
    async with stage.running():
        await preview.until(lambda message: message.content == "Let me see. Four.")
        await preview.until(lambda message: labels(message) == ["Try again"])
    assert stage.said(stage.desk) == ["Let me see. Four."]


async def test_two_threads_do_not_mix(stage: Stage) -> None:
    stage.model.answers(answers_with_memory)
    async with stage.running():
        threads = []
        for topic in ("apples", "pears"):
            opening = await stage.alice.says(f"{stage.bot.mention} {topic}", in_=stage.general)
            threads.append(await stage.thread_on(opening))
            await stage.says(threads[-1], "That makes 1.")
        await stage.alice.says("more", in_=threads[0])
        await stage.says(threads[0], "That makes 2.")
    assert stage.said(threads[1]) == ["That makes 1."]
    assert "pears" not in str(stage.asked[-1])


async def test_two_people_in_one_thread_are_told_apart(stage: Stage) -> None:
    stage.model.says("Hi alice.").then("Hi bob.")
    async with stage.running():
        opening = await stage.alice.says(f"{stage.bot.mention} hi", in_=stage.general)
        thread = await stage.thread_on(opening)
        await stage.says(thread, "Hi alice.")
        await stage.bob.says("hi too", in_=thread)
        await stage.says(thread, "Hi bob.")
    assert stage.asked[1][0][1].startswith("[from alice")
    assert stage.asked[1][2][1].startswith("[from bob")


async def test_messages_in_quick_succession_are_answered_in_order(stage: Stage) -> None:
    stage.model.answers(answers_with_memory)
    async with stage.running():
        for text in ("one", "two", "three"):
            await stage.alice.says(text, in_=stage.desk)
        await stage.says(stage.desk, "That makes 3.")
    assert stage.said(stage.desk) == ["That makes 1.", "That makes 2.", "That makes 3."]


async def test_a_message_with_a_large_file_keeps_its_turn(stage: Stage) -> None:
    stage.model.answers(lambda request: str(request["messages"][-1]["content"])[:200])
    large = ("large.txt", b"x" * 2_000_000)
    async with stage.running():
        await stage.alice.says("first", in_=stage.desk, attachments=[large])
        await stage.alice.says("second", in_=stage.desk)
        await stage.says(stage.desk, "second")
    said = [text.splitlines()[1] for text in stage.said(stage.desk) if text.startswith("[from")]
    assert said == ["first", "second"]


async def test_what_was_heard_is_noted_for_its_place(stage: Stage) -> None:
    stage.model.says("Hello.")
    async with stage.running(drain_seconds=PATIENCE):
        said = await stage.alice.says("hello", in_=stage.desk)
        await stage.bob.says("hello everyone", in_=stage.general)
        await stage.says(stage.desk, "Hello.")
        seen = await PlaceStore(stage.store.database).all()
    assert seen.keys() == {BEGINNING, stage.desk.id}
    assert seen[stage.desk.id] == said.id


async def test_it_is_noted_in_which_server_a_conversation_is(stage: Stage) -> None:
    stage.model.says("Hello.").then("Hi.")
    async with stage.running():
        opening = await stage.alice.says(f"{stage.bot.mention} hello", in_=stage.general)
        thread = await stage.thread_on(opening)
        await stage.says(thread, "Hello.")
        dm = stage.alice.dm(stage.bot)
        await stage.alice.says("hello", in_=dm)
        await stage.says(dm, "Hi.")
        homes = HomeStore(stage.store.database)
        assert await homes.of(f"thread-{thread.id}") == Home(stage.guild.id, stage.general.id)
        assert await homes.of(f"dm-{dm.id}") is None


async def test_nobody_is_pinged_whatever_the_model_says(stage: Stage) -> None:
    stage.model.says(f"@everyone {stage.mod.mention} look")
    async with stage.running():
        await stage.alice.says("say @everyone", in_=stage.desk)
        await stage.says(stage.desk, "@everyone")
    assert [ping for ping in stage.world.pings if ping.message.author is stage.bot] == []


async def test_two_bots_that_mention_each_other_fall_silent(stage: Stage) -> None:
    stage.model.says("Hello robot.")
    robot = stage.world.person("robot", bot=True)
    stage.guild.join(robot)
    async with stage.running():
        await robot.says(f"{stage.bot.mention} hello", in_=stage.desk)
        hook = stage.world.webhook("hook", in_=stage.desk)
        await hook.says(f"{stage.bot.mention} hello")
        await stage.alice.says("and me?", in_=stage.desk)
        await stage.says(stage.desk, "Hello robot.")
    assert len(stage.model.requests) == 1
    assert stage.said(stage.desk) == ["Hello robot."]


async def test_a_strangers_dm_is_refused_once(stage: Stage) -> None:
    stranger = stage.world.person("stranger")
    elsewhere = stage.world.guild("Elsewhere", owner=stranger)
    elsewhere.join(stage.bot)
    dm = stranger.dm(stage.bot)
    allowed = frozenset({stage.guild.id})
    stage.model.says("Hello alice.")
    async with stage.running(guild_ids=allowed):
        await stranger.says("hi", in_=dm)
        await stage.says(dm, STRANGER_TO_SERVERS)
    async with stage.running(guild_ids=allowed):
        await stranger.says("hello?", in_=dm)
        await stage.alice.says("hi", in_=stage.alice.dm(stage.bot))
        await stage.says(stage.alice.dm(stage.bot), "Hello alice.")
    assert len(stage.said(dm)) == 1
    assert len(stage.model.requests) == 1


async def test_where_no_dms_are_answered_a_member_is_told_nothing_of_servers(stage: Stage) -> None:
    dm = stage.alice.dm(stage.bot)
    async with stage.running(dms=DMPolicy.NOBODY):
        await stage.alice.says("hi", in_=dm)
        await stage.says(dm, STRANGER)
    assert stage.model.requests == []


async def test_a_long_answer_arrives_whole(stage: Stage) -> None:
    text = "".join(f"This is sentence number {number}.\n" for number in range(250))
    stage.model.says(text)
    async with stage.running():
        await stage.alice.says("tell me everything", in_=stage.desk)
        await stage.says(stage.desk, "number 249.")
    parts = stage.said(stage.desk)
    assert len(parts) > 2
    assert "".join(parts).replace("\n", "") == text.replace("\n", "")


async def test_reasoning_that_a_model_leaks_is_kept_out_of_the_answer(stage: Stage) -> None:
    gate = stage.model.pauses("<think>two and two, hmm", "</think>\n\nFour.")
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        await gate.reached.wait()
        gate.release()
        answer = await stage.desk.next_message_from(stage.bot)
        await answer.until(lambda message: message.content == "Four.")
    assert not any("hmm" in text for _, text in answer.edits)


async def test_a_table_is_shown_as_discord_can_show_it(stage: Stage) -> None:
    stage.model.says("| a | b |\n|---|---|\n| 1 | 2 |")
    async with stage.running():
        await stage.alice.says("a table", in_=stage.desk)
        answer = await stage.desk.next_message_from(stage.bot)
        await answer.until(lambda message: message.content.startswith("```\na │ b"))


async def test_a_mention_where_no_thread_may_be_opened_is_answered_there(stage: Stage) -> None:
    stage.model.says("First.").then("Second.")
    shut = stage.guild.channel(
        "shut", overwrites={stage.guild.everyone: Overwrite.of(deny=["CREATE_PUBLIC_THREADS"])}
    )
    role = stage.guild.members[stage.bot.id].roles[-1]
    shut.overwrites[role] = Overwrite.of(deny=["CREATE_PUBLIC_THREADS"])
    async with stage.running():
        await stage.alice.says(f"{stage.bot.mention} one", in_=shut)
        await stage.says(shut, "First.")
        await stage.alice.says(f"{stage.bot.mention} two", in_=shut)
        await stage.says(shut, "Second.")
    assert stage.said(shut) == [
        "I may not open threads in this channel, so I answer right here.",
        "First.",
        "Second.",
    ]


async def test_a_thread_that_is_known_by_its_id_only_is_looked_up(stage: Stage) -> None:
    stage.model.says("First.").then("Second.")
    async with stage.running():
        opening = await stage.alice.says(f"{stage.bot.mention} hello", in_=stage.general)
        thread = await stage.thread_on(opening)
        await stage.says(thread, "First.")
    missed = await stage.alice.says("are you there?", in_=thread)
    async with stage.running() as client:
        place = client.get_partial_messageable(thread.id, guild_id=stage.guild.id)
        await client.on_message(await place.fetch_message(missed.id))
        await stage.says(thread, "Second.")
    assert len(stage.asked[1]) == 3


async def test_replies_can_be_chosen_instead_of_threads(stage: Stage) -> None:
    stage.model.says("Here.")
    async with stage.running(reply_mode=ReplyMode.REPLY):
        asked = await stage.alice.says(f"{stage.bot.mention} where?", in_=stage.general)
        reply = await stage.says(stage.general, "Here.")
    assert reply.reference is not None
    assert reply.reference.target is asked


async def test_the_bots_own_role_is_a_mention_too(stage: Stage) -> None:
    role = stage.guild.members[stage.bot.id].roles[-1]
    stage.model.says("Yes?")
    async with stage.running():
        asked = await stage.alice.says(f"{role.mention} hello", in_=stage.general)
        await stage.says(await stage.thread_on(asked), "Yes?")
    assert stage.asked[0][0][1].endswith("hello")


async def test_what_says_nothing_is_answered_plainly(stage: Stage) -> None:
    async with stage.running():
        await stage.alice.says(stage.bot.mention, in_=stage.general)
        await stage.says(stage.general, "I see no text here.")
    assert stage.model.requests == []


async def test_who_writes_too_fast_is_told_once(stage: Stage) -> None:
    stage.model.answers(answers_with_memory)
    async with stage.running(turns_per_minute=1):
        for text in ("one", "two", "three"):
            await stage.alice.says(text, in_=stage.desk)
        await stage.bob.says("me too", in_=stage.desk)
        await stage.says(stage.desk, "That makes 2.")
    told = [text for text in stage.said(stage.desk) if "faster" in text]
    assert len(told) == 1
    assert len(stage.model.requests) == 2


async def test_what_says_nothing_counts_as_well(stage: Stage) -> None:
    stage.model.says("Hello bob.")
    async with stage.running(turns_per_minute=1):
        for _ in range(3):
            await stage.alice.says(stage.bot.mention, in_=stage.desk)
        await stage.bob.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Hello bob.")
    assert stage.said(stage.desk) == [EMPTY, TOO_FAST, "Hello bob."]


async def test_a_file_is_kept_and_given_to_the_model(stage: Stage) -> None:
    stage.model.says("Got it.")
    async with stage.running():
        await stage.alice.says("read", in_=stage.desk, attachments=[("notes.txt", b"buy milk")])
        await stage.says(stage.desk, "Got it.")
        session = await stage.store.get(f"channel-{stage.desk.id}")
    assert session is not None
    [message, _] = session.events
    assert message.attachments[0].name == "notes.txt"  # type: ignore[attr-defined]
    assert stage.asked[0][0][1].endswith("[file notes.txt]\nbuy milk\n[end of file notes.txt]")


async def test_a_file_that_is_too_large_is_named(stage: Stage) -> None:
    stage.model.says("Too large.")
    async with stage.running(attachment_bytes=3):
        await stage.alice.says("read", in_=stage.desk, attachments=[("notes.txt", b"buy milk")])
        await stage.says(stage.desk, "Too large.")
    assert "[note: The file notes.txt was not read: it is too large" in stage.asked[0][0][1]


async def test_a_file_that_cannot_be_read_is_named(stage: Stage) -> None:
    stage.model.says("Lost.")
    async with stage.running():
        await stage.alice.says("read", in_=stage.desk, attachments=[("notes.txt", b"buy milk")])
        stage.world.files.clear()
        await stage.says(stage.desk, "Lost.")
    assert "[note: The file notes.txt was not read: Discord did not" in stage.asked[0][0][1]


async def test_the_commands_are_told_to_discord_only_once(stage: Stage) -> None:
    for _ in range(2):
        async with stage.running():
            pass
    told = [each for each in stage.world.requests if each.method == "PUT"]
    assert len(told) == 1
