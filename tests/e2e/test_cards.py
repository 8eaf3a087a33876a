"""What else a card offers: a reason, an edit, taking it back; each also over a restart."""

import hashlib
from datetime import timedelta

import pytest

from bot.agent import tool
from bot.errors import StorageError
from bot.events import ApprovalDecidedEvent, utc_now
from bot.frontend.commands.interactions import NOT_DONE
from bot.frontend.view.reminders import reminder
from bot.sandbox import Answer, Message, Modal, Person
from tests.e2e.stage import Stage

DELETE = ("delete_file", {"path": "old.txt"})


async def asks(stage: Stage) -> Message:
    await stage.alice.says("delete old.txt", in_=stage.desk)
    return await stage.says(stage.desk, "May I run")


async def more(who: Person, card: Message) -> Message:
    answer = await who.clicks(card, "More…")
    assert answer.message is not None
    return answer.message


async def opened(who: Person, card: Message, button: str) -> Modal:
    answer: Answer = await who.clicks(await more(who, card), button)
    assert answer.modal is not None
    return answer.modal


async def test_a_denial_has_a_reason_that_the_model_hears(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("I see.")
    async with stage.running():
        card = await asks(stage)
        form = await opened(stage.mod, card, "Deny with a reason…")
    async with stage.running():  # the form is still on the screen
        await stage.mod.submits(form, reason="we *need* it")
        await stage.says(stage.desk, "I see.")
        await card.until(lambda message: "Denied by" in message.content)
    assert "we \\*need\\* it" in card.content
    assert "Reason: we *need* it" in stage.asked[1][-1][1]
    assert stage.tools.done == []


async def test_edited_arguments_run_and_card_log_and_model_hear_both(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("Done.")
    async with stage.running():
        card = await asks(stage)
        form = await opened(stage.mod, card, "Edit…")
        assert form.inputs[0]["value"] == '{\n  "path": "old.txt"\n}'
    async with stage.running():
        await stage.mod.submits(form, arguments='{"path": "older.txt"}')
        await stage.says(stage.desk, "Done.")
        await card.until(lambda message: "It ran and ended well." in message.content)
    assert stage.tools.done == ["deleted older.txt"]
    assert 'diff\n-   "path": "old.txt"\n+   "path": "older.txt"\n' in card.content
    assert "with other arguments" in card.content
    assert "A human changed the arguments" in stage.asked[1][-1][1]
    log = await stage.log_of(f"channel-{stage.desk.id}")
    [decision] = [event for event in log if isinstance(event, ApprovalDecidedEvent)]
    assert decision.arguments == {"path": "older.txt"}


async def test_edited_arguments_are_validated_again(stage: Stage) -> None:
    stage.model.says(calls=[DELETE])
    async with stage.running():
        card = await asks(stage)
        for text, why in (
            ('{"path": 7}', "Invalid arguments: path"),
            ("{", "that is not JSON"),
            ("[]", "a JSON object"),
        ):
            form = await opened(stage.mod, card, "Edit…")
            answer = await stage.mod.submits(form, arguments=text)
            assert why in answer.text
            assert answer.ephemeral
    assert "May I run" in card.content
    assert stage.tools.done == []


async def test_an_edit_that_changes_nothing_is_an_approval(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("Done.")
    async with stage.running():
        card = await asks(stage)
        answer = await stage.mod.submits(await opened(stage.mod, card, "Edit…"))
        assert answer.text == "Approved."
        await stage.says(stage.desk, "Done.")
        await card.until(lambda message: "It ran" in message.content)
    assert "with other arguments" not in card.content


async def test_long_arguments_are_not_edited_and_their_hash_is_on_the_card(stage: Stage) -> None:
    stage.model.says(calls=[("delete_file", {"path": "x" * 5000})])
    async with stage.running():
        card = await asks(stage)
        answer = await stage.mod.clicks(await more(stage.mod, card), "Edit…")
    assert answer.text == "The arguments are too long to be edited here."
    digest = hashlib.sha256(card.attachments[0].data).hexdigest()
    assert f"SHA-256 `{digest}`" in card.content


async def test_who_asked_and_may_not_decide_can_only_withdraw(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("Fine.")
    async with stage.running():
        card = await asks(stage)
        mine = await more(stage.alice, card)
        assert [each["label"] for each in mine.buttons] == ["Withdraw"]
    async with stage.running():
        await stage.alice.clicks(mine, "Withdraw")
        await stage.says(stage.desk, "Fine.")
        await card.until(lambda message: "Withdrawn by" in message.content)
    assert stage.tools.done == []


async def test_a_form_that_is_sent_off_after_the_decision_comes_too_late(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("Gone.")
    async with stage.running():
        card = await asks(stage)
        form = await opened(stage.mod, card, "Edit…")
        mine = await more(stage.mod, card)
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "Gone.")
        answer = await stage.mod.submits(form, arguments='{"path": "other.txt"}')
        assert answer.text.startswith(f"Too late: already approved by {stage.mod.mention}")
        assert (await stage.mod.clicks(mine, "Edit…")).text == "This request has been decided."
    assert stage.tools.done == ["deleted old.txt"]


async def test_a_form_of_somebody_who_may_not_decide_decides_nothing(stage: Stage) -> None:
    stage.model.says(calls=[DELETE])
    async with stage.running():
        card = await asks(stage)
        form = await opened(stage.mod, card, "Edit…")
        stage.guild.members[stage.mod.id].roles.clear()
        answer = await stage.mod.submits(form, arguments='{"path": "other.txt"}')
        assert "You may not decide this request." in answer.text
    assert stage.tools.done == []


async def test_the_card_says_in_the_tools_own_words_what_will_happen(stage: Stage) -> None:
    @tool(approval=True, sentence=lambda a: f"Paint it {a['colour']}.\n# And \u202emore")
    def paint(colour: str) -> str:
        """Paint it."""
        return colour

    stage.tools.more = [paint]
    stage.model.says(calls=[("paint", {"colour": "blue"})])
    async with stage.running():
        await stage.alice.says("paint", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
    assert "\n> Paint it blue. # And more\n```json" in card.content


async def test_the_asker_can_have_a_later_message_answered_instead(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("Hello alice.").then("Hello bob.")
    async with stage.running():
        card = await asks(stage)
        await stage.bob.says("hello", in_=stage.desk)
        theirs = await stage.says(stage.desk, "This waits for a decision")
        assert theirs.buttons == []
        await stage.alice.says("never mind: hello", in_=stage.desk)

        def told(messages: list[Message]) -> bool:
            return any(each.buttons for each in messages if "waits for a" in each.content)

        messages = await stage.desk.until(told)
        notice = next(m for m in messages if "waits for a" in m.content and m.buttons)
    async with stage.running():
        await stage.alice.clicks(notice, "Withdraw and answer this instead")
        await stage.says(stage.desk, "Hello alice.")
        await stage.says(stage.desk, "Hello bob.")
        await notice.until(lambda message: not message.buttons)
        await card.until(lambda message: "Withdrawn" in message.content)
    assert stage.tools.done == []


async def test_a_request_that_is_about_to_expire_is_reminded_of_once(stage: Stage) -> None:
    stage.approval_ttl = timedelta(minutes=30)
    stage.model.says(calls=[DELETE])
    async with stage.running() as client:
        await asks(stage)
        [request] = await client.agent.pending(f"channel-{stage.desk.id}")
        due = reminder(request)
        assert due is not None
        assert utc_now() < due.at < due.until == request.expires_at
        parts = client._parts
        parts.reconciler.now = lambda: due.at
        for _ in range(2):
            parts.reconciler.wake(f"channel-{stage.desk.id}")
            await parts.reconciler.caught_up(f"channel-{stage.desk.id}")
    assert sum("still waits for a decision" in text for text in stage.said(stage.desk)) == 1


async def test_a_form_for_which_nothing_can_be_read_is_told(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise StorageError("the disk is gone")

    stage.model.says(calls=[DELETE])
    async with stage.running():
        mine = await more(stage.mod, await asks(stage))
        monkeypatch.setattr(stage.store.database, "read", broken)
        answer = await stage.mod.clicks(mine, "Edit…")
        monkeypatch.undo()
    assert answer.text.startswith(NOT_DONE)
