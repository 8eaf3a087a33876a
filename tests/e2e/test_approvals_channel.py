"""A channel for requests: the card is there, a line here leads to it; without it, here."""

import asyncio

import pytest

from bot.events import utc_now
from bot.frontend.settings.own import ServerSettings
from bot.sandbox import Answer, Channel, Message, Overwrite, Person, Place, Refusal
from bot.sandbox.timing.gates import Gate
from bot.sessions.stores.settings import Change, Scope, SettingsStore
from tests.e2e.stage import PATIENCE, Stage
from tests.setups import labels

DELETE = ("delete_file", {"path": "old.txt"})


def channel_for_requests(stage: Stage, **options: Overwrite) -> Channel:
    overwrites = {stage.bot: options["bot"]} if options else {}
    return stage.guild.channel("requests", overwrites=overwrites)


async def test_a_card_in_the_channel_for_requests_decides_what_was_asked_elsewhere(
    stage: Stage,
) -> None:
    requests = channel_for_requests(stage)
    stage.model.says(calls=[DELETE]).then("It is gone.")
    async with stage.running(approvals_channel=requests.id):
        await stage.alice.says("delete it", in_=stage.desk)
        card = await stage.says(requests, "May I run")
        line = await stage.says(stage.desk, "May I run")
        assert '"path": "old.txt"' in card.content
        assert line.content.endswith(f"/{stage.guild.id}/{requests.id}/{card.id}")
        assert line.buttons == []
    async with stage.running(approvals_channel=requests.id):
        refused = await stage.bob.clicks(card, "Approve")
        assert "You may not decide this request." in refused.text
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "It is gone.")
        await card.until(lambda message: "It ran and ended well." in message.content)
        await line.until(lambda message: "It ran and ended well." in message.content)
    assert stage.tools.done == ["deleted old.txt"]
    assert len(stage.said(requests)) == 1
    assert len(stage.said(stage.desk)) == 2


async def test_a_channel_that_cannot_be_written_falls_back_to_where_it_was_asked(
    stage: Stage,
) -> None:
    requests = channel_for_requests(stage, bot=Overwrite.of(deny=["SEND_MESSAGES"]))
    stage.model.says(calls=[DELETE]).then("It is gone.")
    async with stage.running(approvals_channel=requests.id):
        await stage.alice.says("delete it", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "It is gone.")
    assert stage.said(requests) == []
    assert stage.tools.done == ["deleted old.txt"]


async def test_where_nobody_can_be_asked_the_call_is_denied_and_that_is_said(stage: Stage) -> None:
    requests = channel_for_requests(stage, bot=Overwrite.of(deny=["SEND_MESSAGES"]))
    gate = stage.model.pauses("", "Let me ask.", calls=[DELETE])
    stage.model.then("I could not.")
    async with stage.running(approvals_channel=requests.id):
        await stage.alice.says("delete it", in_=stage.desk)
        await gate.reached.wait()
        stage.world.loses_permission(stage.bot, "SEND_MESSAGES", in_=stage.desk)
        gate.release()
        told = await stage.says(stage.alice.dm(stage.bot), "I cannot answer in")
        await _asked(stage, 2)
    assert "What I wanted to ask about there does not run." in told.content
    assert "nobody could be asked" in stage.asked[1][-1][1]
    assert stage.tools.done == []


async def test_requests_of_dms_and_of_other_servers_stay_there(stage: Stage) -> None:
    requests = channel_for_requests(stage)
    other = stage.world.guild("Other")
    lobby = other.channel("lobby")
    other.join(stage.bot)
    other.join(stage.alice)
    stage.model.says(calls=[DELETE]).says(calls=[DELETE])
    dm = stage.alice.dm(stage.bot)
    async with stage.running(approvals_channel=requests.id):
        await stage.alice.says("delete it", in_=dm)
        await stage.says(dm, "May I run")
        await stage.alice.says(f"{stage.bot.mention} delete it", in_=lobby)

        async def asked() -> Message:
            opening = lobby.messages[0]
            return await stage.says(await stage.thread_on(opening), "May I run")

        await asked()
    assert stage.said(requests) == []


async def test_a_channel_that_is_deleted_while_a_request_waits_is_done_without(
    stage: Stage,
) -> None:
    requests = channel_for_requests(stage)
    stage.model.says(calls=[DELETE]).then("As you wish.")
    async with stage.running(approvals_channel=requests.id):
        await stage.alice.says("delete it", in_=stage.desk)
        await stage.says(requests, "May I run")
        await stage.says(stage.desk, "https://discord.com/channels/")
        _lose(stage, requests, "deleted")
        await stage.mod.runs("/deny", in_=stage.desk)
        await stage.says(stage.desk, "As you wish.")
        await stage.says(stage.desk, "Denied by")
    assert stage.tools.done == []


async def test_what_waits_is_offered_only_to_who_may_decide_it_or_take_it_back(
    stage: Stage,
) -> None:
    """The arguments may be in a channel that others of the conversation cannot see."""
    requests = channel_for_requests(stage)
    stage.model.says(calls=[DELETE])
    async with stage.running(approvals_channel=requests.id):
        await stage.alice.says("delete it", in_=stage.desk)
        await stage.says(requests, "May I run")
        for person, count in ((stage.bob, 0), (stage.alice, 1), (stage.mod, 1)):
            offered = await person.completes("/approve", in_=stage.desk, option="request")
            assert len(offered) == count


@pytest.mark.parametrize("posted", [False, True])
@pytest.mark.parametrize("how", ["SEND_MESSAGES", "VIEW_CHANNEL", "deleted"])
async def test_a_channel_that_was_lost_in_a_restart_falls_back_to_where_it_was_asked(
    stage: Stage, how: str, posted: bool
) -> None:
    """The process ends while the card is on its way, or is there and not noted yet."""
    requests, gate = channel_for_requests(stage), Gate()
    stage.model.says(calls=[DELETE]).then("It is gone.")
    async with stage.running(approvals_channel=requests.id) as client:
        stage.sandbox.faults.next_send(in_=requests, held_by=gate, after_effect=posted)
        await stage.alice.says("delete it", in_=stage.desk)
        await gate.reached()
        await stage.kill(client)
    _lose(stage, requests, how)
    async with stage.running(approvals_channel=requests.id):
        if posted and how == "SEND_MESSAGES":  # it is found there
            card = await stage.says(requests, "May I run")
        else:
            card = await stage.says(stage.desk, "May I run")
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "It is gone.")
    gate.release()
    assert stage.tools.done == ["deleted old.txt"]


@pytest.mark.parametrize("how", ["SEND_MESSAGES", "VIEW_CHANNEL", "deleted"])
async def test_where_nobody_can_be_asked_after_a_restart_the_call_is_denied_and_that_is_said(
    stage: Stage, how: str
) -> None:
    requests, gate = channel_for_requests(stage), Gate()
    stage.model.says(calls=[DELETE]).then("I could not.")
    async with stage.running(approvals_channel=requests.id) as client:
        stage.sandbox.faults.next_send(in_=requests, held_by=gate)
        await stage.alice.says("delete it", in_=stage.desk)
        await gate.reached()
        await stage.kill(client)
    _lose(stage, requests, how)
    stage.world.loses_permission(stage.bot, "SEND_MESSAGES", in_=stage.desk)
    async with stage.running(approvals_channel=requests.id):
        told = await stage.says(stage.alice.dm(stage.bot), "I cannot answer in")
        await _asked(stage, 2)
    gate.release()
    assert "What I wanted to ask about there does not run." in told.content
    assert "nobody could be asked" in stage.asked[1][-1][1]
    assert stage.tools.done == []


async def test_a_call_that_was_denied_since_nobody_could_be_asked_is_answered_after_a_restart(
    stage: Stage,
) -> None:
    requests = channel_for_requests(stage, bot=Overwrite.of(deny=["SEND_MESSAGES"]))
    asking = stage.model.pauses("", "Let me ask.", calls=[DELETE])
    cut = stage.model.pauses("I could", " not.")
    stage.model.says("I could not.")
    async with stage.running(approvals_channel=requests.id) as client:
        await stage.alice.says("delete it", in_=stage.desk)
        await asking.reached.wait()
        stage.world.loses_permission(stage.bot, "SEND_MESSAGES", in_=stage.desk)
        asking.release()
        await cut.reached.wait()
        await stage.kill(client)
    stage.guild.permits(stage.bot, in_=stage.desk, allow=["SEND_MESSAGES"])
    async with stage.running(approvals_channel=requests.id):
        await stage.says(stage.desk, "I could not.")
        card = await stage.says(stage.desk, "Denied by")
    assert "nobody could be asked" in card.content
    assert labels(card) == []
    assert [each[-1][1] for each in stage.asked[1:]] == [stage.asked[1][-1][1]] * 2
    assert stage.tools.done == []


async def _asked(stage: Stage, times: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while len(stage.asked) < times:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def _lose(stage: Stage, channel: Channel, how: str) -> None:
    if how == "deleted":
        for path in ("messages", "messages/*"):
            stage.world.faults.next_request(
                "*", f"/channels/{channel.id}/{path}", fails=Refusal.UNKNOWN_CHANNEL, times=None
            )
    else:
        stage.world.loses_permission(stage.bot, how, in_=channel)


async def chosen(person: Person, channel: Channel, in_: Place) -> Answer:
    """Choose the channel for requests in the panel of settings."""
    panel = (await person.runs("/settings", in_=in_)).message
    assert panel is not None
    await person.selects(panel, "What to change", ["Where requests are shown"])
    return await person.selects(panel, "A channel that approvers read", [channel])


async def test_each_server_may_have_a_channel_for_requests_of_its_own(stage: Stage) -> None:
    default, own = channel_for_requests(stage), stage.guild.channel("ours")
    stage.model.says(calls=[DELETE]).then("It is gone.").says(calls=[DELETE])
    async with stage.running(approvals_channel=default.id):
        told = await chosen(stage.mod, own, stage.desk)
        assert f"Where requests are shown: {own.mention} *(set for the server)*" in told.text
        await stage.alice.says("delete it", in_=stage.desk)
        card = await stage.says(own, "May I run")
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "It is gone.")
        assert told.message is not None
        await stage.mod.selects(told.message, "What to change", ["Where requests are shown"])
        again = await stage.mod.clicks(told.message, "Back to the default")
        assert f"Where requests are shown: {default.mention} *(default)*" in again.text
        await stage.alice.says("delete it", in_=stage.desk)
        await stage.says(default, "May I run")
    assert len(stage.said(own)) == 1


async def test_a_channel_of_another_server_is_none_for_requests(stage: Stage) -> None:
    other = stage.world.guild("Other").channel("theirs")
    other.guild.join(stage.bot)
    stage.model.says(calls=[DELETE])
    async with stage.running():
        scope, by = Scope(stage.guild.id), f"user-{stage.mod.id}"
        store = SettingsStore(stage.store.database)
        change = ServerSettings(approvals_channel=other.id).to_json()
        await store.put(
            Change(
                scope=scope,
                version=1,
                value=change,
                field="approvals_channel",
                by=by,
                at=utc_now(),
            )
        )
        await stage.alice.says("delete it", in_=stage.desk)
        await stage.says(stage.desk, "May I run")
    assert stage.said(other) == []
