"""Which tools run freely, ask, or are off: by the operator's file, and by /policy."""

from datetime import timedelta

import pytest

from bot.agent import tool
from bot.frontend.approvals.policies import EVERYBODY
from bot.sandbox import Message
from tests.e2e.stage import Stage
from tests.setups import labels

DELETE = ("delete_file", {"path": "old.txt"})


async def asks(stage: Stage) -> Message:
    await stage.alice.says("delete old.txt", in_=stage.desk)
    return await stage.says(stage.desk, "May I run")


async def test_a_tool_that_the_operator_switched_off_is_listed_and_refused(stage: Stage) -> None:
    stage.policy = '[tools.delete_file]\nmode = "never"'
    stage.model.says(calls=[DELETE]).then("Not here.")
    async with stage.running():
        await stage.alice.says("delete it", in_=stage.desk)
        await stage.says(stage.desk, "Not here.")
    names = [each["function"]["name"] for each in stage.model.requests[0]["tools"]]
    assert "delete_file" in names
    assert "switched off here" in stage.asked[1][-1][1]
    assert stage.tools.done == []


async def test_a_tool_that_the_operator_freed_in_a_server_runs_there_unasked(stage: Stage) -> None:
    stage.policy = f'[servers.{stage.guild.id}.tools.delete_file]\nmode = "free"'
    stage.model.says(calls=[DELETE]).then("Gone.").says(calls=[DELETE])
    async with stage.running():
        await stage.alice.says("delete it", in_=stage.desk)
        await stage.says(stage.desk, "Gone.")
        dm = stage.alice.dm(stage.bot)
        await stage.alice.says("delete it", in_=dm)
        await stage.says(dm, "May I run")
    assert stage.tools.done == ["deleted old.txt"]


async def test_who_may_approve_and_for_how_long_is_the_operators_word(stage: Stage) -> None:
    stage.policy = f"""
        [tools.delete_file]
        approvers = ["user:{stage.bob.id}"]
        expires_hours = 2
    """
    stage.model.says(calls=[DELETE]).then("Gone.")
    async with stage.running() as client:
        card = await asks(stage)
        refused = await stage.mod.clicks(card, "Approve")
        assert refused.text == f"You may not decide this request. Who may: user:{stage.bob.id}."
        [request] = await client.agent.pending(f"channel-{stage.desk.id}")
        assert request.expires_at - request.at <= timedelta(hours=2)
    async with stage.running():
        await stage.bob.clicks(card, "Approve")
        await stage.says(stage.desk, "Gone.")
    assert stage.tools.done == ["deleted old.txt"]


async def test_a_tool_for_two_persons_is_not_decided_by_who_asked(stage: Stage) -> None:
    @tool(approval=True, approvers="moderator, two_person")
    def launch() -> str:
        """Launch it."""
        return "launched"

    stage.tools.more = [launch]
    stage.model.says(calls=[("launch", {})]).then("As you wish.")
    async with stage.running():
        await stage.mod.says("launch", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        refused = await stage.mod.clicks(card, "Approve")
        assert "somebody else than who asked" in refused.text
        more = await stage.mod.clicks(card, "More…")
        assert more.message is not None
        assert [each["label"] for each in more.message.buttons] == ["Withdraw"]
        await stage.mod.clicks(card, "Deny")
        await card.until(lambda message: "Withdrawn by" in message.content)


async def test_managers_switch_a_tool_off_and_it_stays_off_over_a_restart(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("Not here.").says(calls=[DELETE])
    async with stage.running():
        said = await stage.mod.runs(
            "/policy set", in_=stage.general, tool="delete_file", mode="never"
        )
        assert said.text == "From now on here: `delete_file` off; set here"
        assert said.ephemeral
    async with stage.running():
        await stage.alice.says("delete it", in_=stage.desk)
        await stage.says(stage.desk, "Not here.")
        shown = await stage.mod.runs("/policy show", in_=stage.desk)
        assert "- `delete_file` off; set here\n" in shown.text
        await stage.mod.runs("/policy unset", in_=stage.desk, tool="delete_file")
        await asks(stage)


async def test_a_tool_that_is_switched_off_after_its_approval_does_not_start(stage: Stage) -> None:
    """The gate is asked again right before the start."""
    stage.model.says(calls=[("long_job", {"name": "a"}), DELETE]).then("Only the job.")
    async with stage.running() as client:
        await stage.alice.says("do both", in_=stage.desk)
        card = await stage.says(stage.desk, "delete_file")
        job = await stage.says(stage.desk, "long_job")
        await stage.mod.clicks(job, "Approve")
        await job.until(lambda message: "It runs now." in message.content)
        await stage.mod.clicks(card, "Approve")
        await card.until(lambda message: "Approved by" in message.content)
        await stage.mod.runs("/policy set", in_=stage.desk, tool="delete_file", mode="never")
        stage.tools.may_finish.set()
        await stage.says(stage.desk, "Only the job.")
        assert client.agent.tools["delete_file"].approval is True
    assert stage.tools.done == ["did a"]


async def test_managers_make_a_tool_freer_only_where_the_operator_lets_them(stage: Stage) -> None:
    async with stage.running():
        said = await stage.mod.runs("/policy set", in_=stage.desk, tool="delete_file", mode="free")
        assert "not freer" in said.text
    stage.policy = '[tools.delete_file]\nmode = "ask"\nmanagers = "free"'
    stage.model.says(calls=[DELETE]).then("Gone.")
    async with stage.running():
        said = await stage.mod.runs("/policy set", in_=stage.desk, tool="delete_file", mode="free")
        assert said.text == "From now on here: `delete_file` runs without asking; set here"
        await stage.alice.says("delete it", in_=stage.desk)
        await stage.says(stage.desk, "Gone.")
    stage.policy = '[tools.delete_file]\nmode = "ask"'  # the operator thinks again
    stage.model.says(calls=[DELETE])
    async with stage.running():
        await asks(stage)


async def test_discords_own_tools_are_off_until_a_manager_enables_them(stage: Stage) -> None:
    stage.off = ["announce"]
    stage.guild.channel("news")
    call = ("announce", {"channel": "news", "text": "Cake!"})
    stage.model.says(calls=[call]).then("It is off.").says(calls=[call])
    async with stage.running():
        await stage.alice.says("announce it", in_=stage.desk)
        await stage.says(stage.desk, "It is off.")
        said = await stage.mod.runs("/policy set", in_=stage.desk, tool="announce", mode="free")
        assert "not freer" in said.text
        said = await stage.mod.runs("/policy set", in_=stage.desk, tool="announce", mode="own")
        assert said.text == "From now on here: `announce` asks; set here"
        await stage.alice.says("announce it", in_=stage.desk)
        await stage.says(stage.desk, "May I run")


async def test_policy_is_for_managers_and_names_tools(stage: Stage) -> None:
    async with stage.running():
        with pytest.raises(PermissionError):
            await stage.bob.runs("/policy show", in_=stage.desk)
        names = await stage.mod.completes(
            "/policy set", in_=stage.desk, option="tool", typed="dele"
        )
        assert [name for name, _ in names] == ["delete_file"]
        said = await stage.mod.runs("/policy unset", in_=stage.desk, tool="nothing")
        assert said.text == "There is no such tool."
        said = await stage.mod.runs(
            "/policy set", in_=stage.desk, tool="delete_file", approvers="somebody"
        )
        assert said.text.startswith("Approvers: must be requester, moderator")
        said = await stage.mod.runs("/policy revoke", in_=stage.desk, allowed="grant-1")
        assert said.text == "Nothing of that name is allowed here."


async def test_what_is_always_allowed_runs_unasked_until_it_is_revoked(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("One.")
    async with stage.running():
        card = await asks(stage)
        more = await stage.mod.clicks(card, "More…")
        assert more.message is not None
        await stage.mod.clicks(more.message, "Always here with exactly these arguments")
        await stage.says(stage.desk, "One.")
        await card.until(lambda message: "exactly these arguments" in message.content)
    other = ("delete_file", {"path": "other.txt"})
    stage.model.says(calls=[DELETE]).then("Two.").says(calls=[other]).then("Three.")
    async with stage.running():
        await stage.alice.says("again", in_=stage.desk)
        await stage.says(stage.desk, "Two.")
        await stage.alice.says("and the other", in_=stage.desk)
        second = await stage.says(stage.desk, "other.txt")
        await stage.mod.clicks(second, "Deny")
        await stage.says(stage.desk, "Three.")
        assert stage.tools.done == ["deleted old.txt"] * 2
        shown = await stage.mod.runs("/policy show", in_=stage.general)
        assert "in this place with exactly these arguments" in shown.text
        [(name, grant)] = await stage.mod.completes(
            "/policy revoke", in_=stage.general, option="allowed"
        )
        assert "delete_file" in name
        await stage.mod.runs("/policy revoke", in_=stage.general, allowed=grant)
        stage.model.says(calls=[DELETE])
        await stage.alice.says("and again", in_=stage.desk)
        await stage.desk.until(lambda m: sum("**May I run" in each.content for each in m) == 1)
    assert stage.tools.done == ["deleted old.txt"] * 2


async def test_one_argument_of_what_is_always_allowed_may_be_free(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("One.")
    stage.model.says(calls=[("delete_file", {"path": "other.txt"})]).then("Two.")
    async with stage.running():
        card = await asks(stage)
        more = await stage.mod.clicks(card, "More…")
        assert more.message is not None
        await stage.mod.clicks(more.message, "Always here, whatever “path” is")
        await stage.says(stage.desk, "One.")
        await stage.alice.says("the other", in_=stage.desk)
        await stage.says(stage.desk, "Two.")
    assert stage.tools.done == ["deleted old.txt", "deleted other.txt"]


async def test_who_may_not_approve_may_not_allow_always(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("Gone.")
    async with stage.running():
        card = await asks(stage)
        more = await stage.mod.clicks(card, "More…")
        assert more.message is not None
        mine = await stage.bob.clicks(card, "More…")
        assert mine.text == "There is nothing more that you may do with this request."
        await stage.mod.clicks(more.message, "Always in this server with exactly these arguments")
        await stage.says(stage.desk, "Gone.")
        too_late = await stage.mod.clicks(more.message, "Always here with exactly these arguments")
        assert too_late.text.startswith("Too late: already approved")


async def test_who_may_decide_only_for_themselves_may_not_allow_it_to_everybody(
    stage: Stage,
) -> None:
    stage.policy = '[tools.delete_file]\napprovers = ["requester", "moderator"]'
    stage.model.says(calls=[DELETE]).then("Gone.")
    async with stage.running():
        card = await asks(stage)
        mine = await stage.alice.clicks(card, "More…")
        assert mine.message is not None
        assert not [each for each in labels(mine.message) if each.startswith("Always")]
        more = await stage.mod.clicks(card, "More…")
        assert more.message is not None
        assert [each for each in labels(more.message) if each.startswith("Always")]
        await stage.alice.clicks(card, "Approve")
        await stage.says(stage.desk, "Gone.")


async def test_what_could_not_be_listed_and_taken_back_is_not_offered(stage: Stage) -> None:
    """`/policy` is for servers; in a direct message nobody could revoke a standing yes."""
    stage.model.says(calls=[DELETE])
    dm = stage.alice.dm(stage.bot)
    async with stage.running(approver_user_ids=frozenset({stage.alice.id})):
        await stage.alice.says("delete it", in_=dm)
        card = await stage.says(dm, "May I run")
        more = await stage.alice.clicks(card, "More…")
        assert more.message is not None
        assert labels(more.message) == ["Deny with a reason…", "Edit…", "Withdraw"]


async def test_what_is_set_of_a_tool_leaves_the_rest_as_it_was_set(stage: Stage) -> None:
    async with stage.running():
        await stage.mod.runs("/policy set", in_=stage.desk, tool="delete_file", mode="never")
        said = await stage.mod.runs(
            "/policy set", in_=stage.desk, tool="delete_file", approvers="owner"
        )
        assert said.text == "From now on here: `delete_file` off; approvers: owner; set here"


async def test_approvers_that_are_set_take_the_place_of_those_before(stage: Stage) -> None:
    async with stage.running():
        said = ""
        for words in ("moderator, two_person", "owner"):
            answer = await stage.mod.runs(
                "/policy set", in_=stage.desk, tool="delete_file", approvers=words
            )
            said = answer.text
        assert said == "From now on here: `delete_file` asks; approvers: owner; set here"


async def test_what_the_operator_allows_no_more_keeps_nobody_from_being_stricter(
    stage: Stage,
) -> None:
    async with stage.running():
        await stage.mod.runs(
            "/policy set", in_=stage.desk, tool="delete_file", approvers="moderator"
        )
    stage.policy = '[tools.delete_file]\napprovers = ["owner"]'
    async with stage.running():
        said = await stage.mod.runs("/policy set", in_=stage.desk, tool="delete_file", mode="never")
        assert said.text == "From now on here: `delete_file` off; approvers: owner; set here"


async def test_two_persons_stay_two_where_the_operator_says_so(stage: Stage) -> None:
    stage.policy = '[tools.delete_file]\napprovers = ["two_person"]'
    async with stage.running():
        said = await stage.mod.runs(
            "/policy set", in_=stage.desk, tool="delete_file", approvers="moderator"
        )
        assert "approvers: moderator, two_person; set here" in said.text


async def test_everybody_is_no_approver(stage: Stage) -> None:
    async with stage.running():
        role = f"moderator, role:{stage.guild.id}"
        said = await stage.mod.runs(
            "/policy set", in_=stage.desk, tool="delete_file", approvers=role
        )
        assert said.text == EVERYBODY
        shown = await stage.mod.runs("/policy show", in_=stage.desk)
        assert "`delete_file` asks\n" in f"{shown.text}\n"
