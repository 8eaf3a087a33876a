"""What people live through with the bot, whichever Discord it is."""

from bot.frontend.control import UNDO_WORKS
from tests.worlds.scene import Said, Scene, Told

DELETE = ("delete_file", {"path": "old.txt"})
OTHER = ("delete_file", {"path": "other.txt"})


async def asks(scene: Scene) -> Said:
    """Let alice ask for something that needs a yes, and return the card."""
    await scene.says(scene.alice, "delete old.txt", in_=scene.desk)
    return await scene.sees("May I run", in_=scene.desk)


async def test_a_mention_opens_a_thread_that_remembers(scene: Scene) -> None:
    scene.model.says("Hello Alice.").then("You are Alice.")
    opening = await scene.mentions_bot(scene.alice, "I am Alice", in_=scene.general)
    thread = await scene.sees_thread_on(opening)
    await scene.sees("Hello Alice.", in_=thread)
    await scene.says(scene.alice, "who am I?", in_=thread)
    await scene.sees("You are Alice.", in_=thread)
    assert thread.name == "I am Alice"
    assert scene.said(scene.general) == []
    user = f"[from alice (user-{scene.alice.id})]"
    assert scene.asked[1] == [
        ("user", f"{user}\nI am Alice"),
        ("assistant", "Hello Alice."),
        ("user", f"{user}\nwho am I?"),
    ]


async def test_a_dm_with_the_owner(scene: Scene) -> None:
    scene.model.says("Hello.").then("You said hi.")
    dm = scene.dm(scene.owner)
    await scene.says(scene.owner, "hi", in_=dm)
    await scene.sees("Hello.", in_=dm)
    await scene.says(scene.owner, "what did I say?", in_=dm)
    await scene.sees("You said hi.", in_=dm)
    assert scene.asked[1] == [("user", "hi"), ("assistant", "Hello."), ("user", "what did I say?")]


async def test_a_member_is_answered_in_a_dm(scene: Scene) -> None:
    scene.model.says("Hello alice.")
    dm = scene.dm(scene.alice)
    await scene.says(scene.alice, "hi", in_=dm)
    await scene.sees("Hello alice.", in_=dm)


async def test_two_messages_are_one_conversation(scene: Scene) -> None:
    scene.model.says("Noted.").then("Blue.")
    first = await scene.says(scene.alice, "I like blue", in_=scene.desk)
    noted = await scene.sees("Noted.", in_=scene.desk)
    await scene.replies(scene.alice, noted, "what do I like?")
    await scene.sees("Blue.", in_=scene.desk)
    assert noted.reply_to == first.id
    assert [role for role, _ in scene.asked[1]] == ["user", "assistant", "user"]


async def test_a_restart_in_between_forgets_nothing(scene: Scene) -> None:
    scene.model.says("Hello Alice.").then("You are Alice.")
    opening = await scene.mentions_bot(scene.alice, "I am Alice", in_=scene.general)
    thread = await scene.sees_thread_on(opening)
    await scene.sees("Hello Alice.", in_=thread)
    await scene.restarts()
    await scene.says(scene.alice, "who am I?", in_=thread)
    await scene.sees("You are Alice.", in_=thread)
    assert [role for role, _ in scene.asked[1]] == ["user", "assistant", "user"]
    assert scene.said(thread) == ["Hello Alice.", "You are Alice."]


async def test_two_people_in_one_thread_are_told_apart(scene: Scene) -> None:
    scene.model.says("Hi alice.").then("Hi bob.")
    opening = await scene.mentions_bot(scene.alice, "hi", in_=scene.general)
    thread = await scene.sees_thread_on(opening)
    await scene.sees("Hi alice.", in_=thread)
    await scene.says(scene.bob, "hi too", in_=thread)
    await scene.sees("Hi bob.", in_=thread)
    alice, bob = scene.alice, scene.bob
    assert scene.asked[1][0] == ("user", f"[from alice (user-{alice.id})]\nhi")
    assert scene.asked[1][2] == ("user", f"[from bob (user-{bob.id})]\nhi too")


async def test_a_call_approved_by_button_runs_once(scene: Scene) -> None:
    scene.model.says(calls=[DELETE]).then("It is gone.")
    card = await asks(scene)
    assert f"Asked for by {scene.alice.mention}" in card.text
    assert '"path": "old.txt"' in card.text
    assert card.buttons == ["Approve", "Deny", "More…"]
    told = await scene.clicks(scene.mod, card, "Approve")
    assert told.text == ""
    await scene.sees("It is gone.", in_=scene.desk)
    after = await scene.sees_on(card, "It ran and ended well.")
    assert f"Approved by {scene.mod.mention}" in after.text
    assert after.buttons == []
    assert scene.tools.done == ["deleted old.txt"]


async def test_a_double_click_is_one_execution_and_hears_who_decided(scene: Scene) -> None:
    scene.model.says(calls=[DELETE]).then("It is gone.")
    card = await asks(scene)
    told = await scene.double_clicks(scene.mod, card, "Approve")
    await scene.sees("It is gone.", in_=scene.desk)
    [late] = [each for each in told if each.text]
    assert late.text.startswith(f"Too late: already approved by {scene.mod.mention}")
    assert late.private
    assert scene.tools.done == ["deleted old.txt"]


async def test_a_call_denied_with_a_reason_never_runs(scene: Scene) -> None:
    scene.model.says(calls=[DELETE]).then("As you wish.")
    card = await asks(scene)
    told = await scene.runs(scene.mod, "/deny", in_=scene.desk, reason="we need it")
    assert told == Told("Denied.", private=True)
    await scene.sees("As you wish.", in_=scene.desk)
    after = await scene.sees_on(card, "It did not run.")
    assert f"Denied by {scene.mod.mention}" in after.text
    assert "we need it" in after.text
    assert "we need it" in scene.asked[1][-1][1]
    assert scene.tools.done == []


async def test_one_of_two_requests_is_chosen_by_completion(scene: Scene) -> None:
    scene.model.says(calls=[DELETE, OTHER]).then("Done.")
    opening = await scene.mentions_bot(scene.alice, "delete both", in_=scene.general)
    thread = await scene.sees_thread_on(opening)
    card = await scene.sees("other.txt", in_=thread)
    choices = await scene.completes(
        scene.mod, "/approve", in_=thread, option="request", typed="other"
    )
    [(name, request)] = choices
    assert name == 'delete_file {"path": "other.txt"}'
    told = await scene.runs(scene.mod, "/approve", in_=thread, request=request)
    assert told == Told("Approved.", private=True)
    await scene.sees_on(card, "It ran and ended well.")
    await scene.runs(scene.mod, "/deny", in_=thread)
    await scene.sees("Done.", in_=thread)
    assert scene.tools.done == ["deleted other.txt"]


async def test_the_wrong_person_is_refused_privately(scene: Scene) -> None:
    scene.model.says(calls=[DELETE])
    card = await asks(scene)
    before = scene.messages(scene.desk)
    for button in ("Approve", "Deny"):
        told = await scene.clicks(scene.bob, card, button)
        assert told.text.startswith("You may not decide this request.")
        assert told.private
    assert scene.messages(scene.desk) == before
    assert scene.tools.done == []


async def test_the_owner_decides_in_a_dm(scene: Scene) -> None:
    scene.model.says(calls=[DELETE, OTHER]).then("One is gone.")
    dm = scene.dm(scene.owner)
    await scene.says(scene.owner, "delete both", in_=dm)
    card = await scene.sees("old.txt", in_=dm)
    await scene.clicks(scene.owner, card, "Approve")
    await scene.sees_on(card, "It ran and ended well.")
    told = await scene.runs(scene.owner, "/deny", in_=dm)
    assert told == Told("Denied.", private=True)
    await scene.sees("One is gone.", in_=dm)
    assert scene.tools.done == ["deleted old.txt"]


async def test_a_card_works_after_a_restart(scene: Scene) -> None:
    scene.model.says(calls=[DELETE]).then("It is gone.")
    card = await asks(scene)
    await scene.restarts()
    await scene.clicks(scene.mod, card, "Approve")
    await scene.sees("It is gone.", in_=scene.desk)
    await scene.sees_on(card, "It ran and ended well.")
    assert scene.tools.done == ["deleted old.txt"]
    assert len(scene.said(scene.desk)) == 2


async def test_a_reset_forgets(scene: Scene) -> None:
    scene.model.says("Hello Alice.").then("I do not know.")
    await scene.says(scene.alice, "I am Alice", in_=scene.desk)
    await scene.sees("Hello Alice.", in_=scene.desk)
    told = await scene.runs(scene.alice, "/reset", in_=scene.desk)
    forgotten = f"I have forgotten 1 message of this conversation. {UNDO_WORKS}"
    assert told == Told(forgotten, private=True)
    await scene.sees("began the conversation anew", in_=scene.desk)
    await scene.says(scene.alice, "who am I?", in_=scene.desk)
    await scene.sees("I do not know.", in_=scene.desk)
    assert [role for role, _ in scene.asked[1]] == ["user"]


async def test_nobody_is_pinged_whatever_the_model_says(scene: Scene) -> None:
    shout = f"@everyone @here {scene.mod.mention} look"
    scene.model.says(shout, calls=[DELETE]).then(f"{shout} again")
    await scene.says(scene.alice, "say @everyone", in_=scene.desk)
    card = await scene.sees("May I run", in_=scene.desk)
    await scene.clicks(scene.mod, card, "Approve")
    await scene.sees(f"{shout} again", in_=scene.desk)
    assert shout in scene.said(scene.desk)[0]
    assert scene.pinged == []


async def test_a_long_answer_arrives_whole(scene: Scene) -> None:
    text = "".join(f"This is sentence number {number:04}.\n" for number in range(167))
    assert len(text) > 5000
    scene.model.says(text)
    await scene.says(scene.alice, "tell me everything", in_=scene.desk)
    await scene.sees("number 0166.", in_=scene.desk)
    parts = scene.said(scene.desk)
    assert len(parts) >= 3
    assert all(len(part) <= 2000 for part in parts)
    assert [line for part in parts for line in part.splitlines()] == text.splitlines()


async def test_where_no_thread_may_be_opened_it_replies_and_says_so_once(scene: Scene) -> None:
    scene.model.says("First.").then("Second.").then("Third.")
    one = await scene.mentions_bot(scene.alice, "one", in_=scene.shut)
    first = await scene.sees("First.", in_=scene.shut)
    await scene.mentions_bot(scene.bob, "two", in_=scene.shut)
    await scene.sees("Second.", in_=scene.shut)
    await scene.replies(scene.alice, first, "three")
    await scene.sees("Third.", in_=scene.shut)
    assert first.reply_to == one.id
    assert scene.threads(scene.shut) == []
    assert scene.said(scene.shut) == [
        "I may not open threads in this channel, so I answer right here.",
        "First.",
        "Second.",
        "Third.",
    ]
