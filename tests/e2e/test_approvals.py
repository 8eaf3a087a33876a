"""Gated calls: a card asks, one decision counts, and the card tells what became of it."""

import asyncio

from bot.sandbox import Message
from tests.clocks import Clock
from tests.e2e.stage import Stage

DELETE = ("delete_file", {"path": "old.txt"})
OTHER = ("delete_file", {"path": "other.txt"})


async def asks(stage: Stage) -> Message:
    """Let alice ask for something that needs a yes, and return the card."""
    await stage.alice.says("delete old.txt", in_=stage.desk)
    return await stage.says(stage.desk, "May I run")


async def test_a_call_approved_by_button_runs_once(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("It is gone.")
    async with stage.running():
        card = await asks(stage)
        assert f"Asked for by {stage.alice.mention}" in card.content
        assert '"path": "old.txt"' in card.content
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "It is gone.")
        await card.until(lambda message: "It ran and ended well." in message.content)
    assert f"Approved by {stage.mod.mention}" in card.content
    assert card.buttons == []
    assert stage.tools.done == ["deleted old.txt"]


async def test_a_call_approved_by_command_runs_once(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("It is gone.")
    async with stage.running():
        card = await asks(stage)
        answer = await stage.mod.runs("/approve", in_=stage.desk, note="go ahead")
        assert answer.text == "Approved."
        await stage.says(stage.desk, "It is gone.")
        await card.until(lambda message: "It ran" in message.content)
    assert "go ahead" in card.content
    assert stage.tools.done == ["deleted old.txt"]


async def test_a_denied_call_never_runs_and_the_model_hears_why(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("As you wish.")
    async with stage.running():
        card = await asks(stage)
        await stage.mod.runs("/deny", in_=stage.desk, reason="we need it")
        await stage.says(stage.desk, "As you wish.")
        await card.until(lambda message: "It did not run." in message.content)
    assert f"Denied by {stage.mod.mention}" in card.content
    assert "we need it" in card.content
    assert "we need it" in stage.asked[1][-1][1]
    assert stage.tools.done == []


async def test_one_of_several_requests_is_chosen_by_completion(stage: Stage) -> None:
    stage.model.says(calls=[DELETE, OTHER]).then("Done.")
    async with stage.running():
        await stage.alice.says("delete both", in_=stage.desk)
        card = await stage.says(stage.desk, "other.txt")
        unclear = await stage.mod.runs("/approve", in_=stage.desk)
        assert unclear.text == "Please choose one of the requests that wait here."
        choices = await stage.mod.completes("/approve", in_=stage.desk, option="request")
        assert [name for name, _ in choices] == [
            'delete_file {"path": "old.txt"}',
            'delete_file {"path": "other.txt"}',
        ]
        await stage.mod.runs("/approve", in_=stage.desk, request=choices[1][1])
        await card.until(lambda message: "It ran" in message.content)
        assert stage.tools.done == ["deleted other.txt"]
        await stage.mod.runs("/deny", in_=stage.desk)
        await stage.says(stage.desk, "Done.")
    assert stage.tools.done == ["deleted other.txt"]


async def test_a_decision_counts_while_another_call_runs(stage: Stage) -> None:
    stage.model.says(calls=[("long_job", {"name": "a"}), DELETE]).then("Both done.")
    async with stage.running():
        await stage.alice.says("do both", in_=stage.desk)
        job = await stage.says(stage.desk, "long_job")
        card = await stage.says(stage.desk, "delete_file")
        await stage.mod.clicks(job, "Approve")
        await job.until(lambda message: "It runs now." in message.content)
        await stage.mod.clicks(card, "Approve")
        await card.until(lambda message: "Approved by" in message.content)
        stage.tools.may_finish.set()
        await stage.says(stage.desk, "Both done.")
    assert sorted(stage.tools.done) == ["deleted old.txt", "did a"]


async def test_two_clicks_are_one_execution(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("It is gone.")
    async with stage.running():
        card = await asks(stage)
        clicks = (stage.mod.clicks(card, "Approve"), stage.mod.clicks(card, "Approve"))
        answers = await asyncio.gather(*clicks)
        await stage.says(stage.desk, "It is gone.")
    late = [each.text for each in answers if each.text.startswith("Too late")]
    assert len(late) == 1
    assert f"already approved by {stage.mod.mention}" in late[0]
    assert stage.tools.done == ["deleted old.txt"]


async def test_the_wrong_person_is_refused_privately(stage: Stage) -> None:
    stage.model.says(calls=[DELETE])
    async with stage.running():
        card = await asks(stage)
        before = card.content
        answer = await stage.bob.clicks(card, "Approve")
        assert answer.message is not None
        assert answer.message.seen_only_by is stage.bob
        assert "You may not decide this request." in answer.text
    assert card.content == before
    assert [button["label"] for button in card.buttons] == ["Approve", "Deny", "More…"]
    assert stage.tools.done == []


async def test_who_asked_can_take_the_request_back(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("Fine.")
    async with stage.running():
        card = await asks(stage)
        await stage.alice.clicks(card, "Deny")
        await stage.says(stage.desk, "Fine.")
        await card.until(lambda message: "It was cancelled." in message.content)
    assert f"Withdrawn by {stage.alice.mention}" in card.content


async def test_a_card_works_after_a_restart(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("It is gone.")
    async with stage.running():
        card = await asks(stage)
    async with stage.running():
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "It is gone.")
        await card.until(lambda message: "It ran" in message.content)
    assert stage.tools.done == ["deleted old.txt"]
    assert len(stage.said(stage.desk)) == 2


async def test_a_free_call_runs_while_a_gated_one_waits(stage: Stage) -> None:
    stage.model.says("Let me look.", calls=[("read_clock", {}), DELETE]).then("All done.")
    async with stage.running():
        card = await asks(stage)
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "All done.")
    assert sorted(stage.tools.done) == ["deleted old.txt", "read the clock"]
    assert [text for role, text in stage.asked[1] if role == "tool"] == [
        "noon",
        "old.txt is gone",
    ]
    said = stage.said(stage.desk)
    assert said[0] == "Let me look."
    assert said[2] == "All done."


async def test_a_message_while_waiting_is_told_so_and_answered_after(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("It is gone.").then("Hello bob.")
    async with stage.running():
        card = await asks(stage)
        for text in ("hello", "are you there?"):
            await stage.bob.says(text, in_=stage.desk)
        await stage.says(stage.desk, "This waits for a decision on `delete_file`")
        stage.model.then("Yes, bob.")
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "Yes, bob.")
    told = [text for text in stage.said(stage.desk) if "waits for a decision" in text]
    assert len(told) == 1
    assert stage.said(stage.desk)[2:] == [
        "It is gone.",
        "Hello bob.",
        "Yes, bob.",
    ]


async def test_a_request_expires_by_itself(stage: Stage, bots_clock: Clock) -> None:
    stage.model.says(calls=[DELETE]).then("Nobody answered.")
    async with stage.running():
        card = await asks(stage)
        bots_clock.advance(stage.approval_ttl)
        await stage.says(stage.desk, "Nobody answered.")
        await card.until(lambda message: "Expired:" in message.content)
        late = await stage.mod.runs("/approve", in_=stage.desk)
    assert late.text == "Please choose one of the requests that wait here."
    assert stage.tools.done == []


async def test_a_card_in_a_thread_that_was_archived_is_brought_up_to_date(
    stage: Stage, bots_clock: Clock
) -> None:
    stage.model.says(calls=[DELETE]).then("Nobody answered.")
    async with stage.running():
        opening = await stage.alice.says(f"{stage.bot.mention} delete it", in_=stage.general)
        thread = await stage.thread_on(opening)
        card = await stage.says(thread, "May I run")
        thread.archived = True
        bots_clock.advance(stage.approval_ttl)
        await stage.says(thread, "Nobody answered.")
        await card.until(lambda message: "Expired:" in message.content)


async def test_a_request_that_expired_while_the_bot_was_away_is_over(
    stage: Stage, bots_clock: Clock
) -> None:
    stage.model.says(calls=[DELETE]).then("Nobody answered.")
    async with stage.running():
        card = await asks(stage)
    bots_clock.advance(stage.approval_ttl)
    async with stage.running():
        await stage.says(stage.desk, "Nobody answered.")
        await card.until(lambda message: "Expired:" in message.content and not message.buttons)


async def test_a_click_on_a_request_of_another_place_is_refused(stage: Stage) -> None:
    stage.model.says(calls=[DELETE])
    async with stage.running() as client:
        await asks(stage)
        [request] = await client.agent.pending(f"channel-{stage.desk.id}")
        answer = await stage.mod.runs("/approve", in_=stage.general, request=request.approval_id)
    assert answer.text == "I know of no such request here."
    assert stage.tools.done == []


async def test_in_a_dm_only_the_owner_decides(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("It is gone.")
    dm = stage.alice.dm(stage.bot)
    async with stage.running():
        await stage.alice.says("delete old.txt", in_=dm)
        card = await stage.says(dm, "May I run")
        refused = await stage.alice.clicks(card, "Approve")
        assert "may not decide" in refused.text
    async with stage.running(owner_ids=frozenset({stage.alice.id})):
        await stage.alice.clicks(card, "Approve")
        await stage.says(dm, "It is gone.")
    assert stage.tools.done == ["deleted old.txt"]


async def test_arguments_cannot_break_out_of_their_block(stage: Stage) -> None:
    path = "a```\n@everyone \u202egnp.exe"
    stage.model.says(calls=[("delete_file", {"path": path})])
    async with stage.running():
        card = await asks(stage)
    assert card.content.count("```") == 2
    assert "\\u202e" in card.content
    assert "\\u0060\\u0060\\u0060\\n@everyone" in card.content


async def test_long_arguments_are_attached_in_full(stage: Stage) -> None:
    stage.model.says(calls=[("delete_file", {"path": "x" * 5000})])
    async with stage.running():
        card = await asks(stage)
    assert "attached in full" in card.content
    assert b"x" * 5000 in card.attachments[0].data


async def test_an_announcement_is_posted_once_approved(stage: Stage) -> None:
    stage.guild.channel("announcements")
    stage.model.says(
        calls=[("announce", {"channel": "#announcements", "text": "Cake @everyone!"})]
    ).then("Posted.")
    async with stage.running():
        card = await asks(stage)
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "Posted.")
    assert stage.said(stage.guild.channels[-1]) == ["Cake @everyone!"]
    assert [ping for ping in stage.world.pings if ping.message.author is stage.bot] == []


async def test_nobody_announces_where_they_may_not_write(stage: Stage) -> None:
    from bot.sandbox import Overwrite

    stage.guild.channel("news", overwrites={stage.alice: Overwrite.of(deny=["SEND_MESSAGES"])})
    stage.model.says(calls=[("announce", {"channel": "news", "text": "Cake!"})]).then("Sorry.")
    async with stage.running():
        await stage.alice.says("announce it", in_=stage.desk)
        await stage.says(stage.desk, "Sorry.")
    assert stage.said(stage.desk) == ["Sorry."]
    assert "Who asked lacks a permission in #news: Send Messages." in stage.asked[1][-1][1]
