"""Each server and channel its own way: the panel, personas, and what comes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.agent import tool
from bot.frontend import Operator
from bot.frontend.commands.settings.desk import LATE, NOT_A_MANAGER
from bot.frontend.commands.settings.edits import NO_TEXT, TOO_LONG
from bot.sandbox import Answer, Guild, Message, Overwrite, Person, Place
from bot.sandbox.model.replies import chunk, delta_chunk
from tests.e2e.stage import PATIENCE, Stage
from tests.setups import labels

OPERATOR = Operator(
    models=("scripted", "large"),
    prompt="Be brief.",
    fixed="No text approves.",
    extras=frozenset({"temperature", "max_tokens"}),
)
TOPICS = "What to change"


@pytest.fixture
def stage(stage: Stage) -> Stage:
    stage.operator = OPERATOR
    return stage


def prompts(stage: Stage) -> list[str]:
    """Return what stood before the conversation, request by request."""
    return [messages[0][1] if messages[0][0] == "system" else "" for messages in stage.asked]


async def opened(person: Person, place: Place) -> Message:
    """Return the panel that somebody opened."""
    answer = await person.runs("/settings", in_=place)
    assert answer.ephemeral
    assert answer.message is not None
    return answer.message


async def chosen(person: Person, panel: Message, topic: str, *values: Any) -> Answer:
    """Choose a topic, and values of it."""
    await person.selects(panel, TOPICS, [topic])
    return await person.selects(panel, topic, values)


async def written(person: Person, panel: Message, topic: str, **fields: Any) -> Answer:
    """Choose a topic, and fill in its form."""
    form = (await person.selects(panel, TOPICS, [topic])).modal
    assert form is not None
    return await person.submits(form, **fields)


def away(stage: Stage) -> Guild:
    """Make a second server, which mod manages too."""
    guild = stage.world.guild("Away")
    guild.join(stage.bot, permissions={"CREATE_PUBLIC_THREADS", "SEND_MESSAGES_IN_THREADS"})
    guild.join(stage.alice)
    guild.join(stage.mod, permissions={"MANAGE_GUILD"})
    return guild


async def test_two_servers_have_their_own_model_prompt_and_mode(stage: Stage) -> None:
    hall = away(stage).channel("hall")
    stage.model.says("Here.").then("There.")
    async with stage.running():
        panel = await opened(stage.mod, hall)
        await chosen(stage.mod, panel, "Model", "large")
        await chosen(stage.mod, panel, "Thread or reply", "Reply in the channel")
        await written(stage.mod, panel, "Temperature and the like", temperature="0,5")
        told = await written(
            stage.mod,
            panel,
            "System prompt",
            **{"Prompt (empty: the default)": "Speak German.", "The operator's prompt": ["add"]},
        )
        assert "- Model: `large` *(set for the server)*" in told.text
        assert "temperature 0.5 *(set for the server)*" in told.text
        question = await stage.alice.says(f"{stage.bot.mention} hi", in_=stage.general)
        await stage.says(await stage.thread_on(question), "Here.")
        await stage.alice.says(f"{stage.bot.mention} hi", in_=hall)
        await stage.says(hall, "There.")
    here, there = stage.model.requests
    assert (here["model"], here.get("temperature")) == ("scripted", None)
    assert (there["model"], there["temperature"]) == ("large", 0.5)
    assert prompts(stage) == ["Be brief.", "Be brief.\n\nSpeak German.\n\nNo text approves."]


async def test_a_change_counts_from_the_next_turn_on_and_not_in_one_that_runs(
    stage: Stage,
) -> None:
    stage.model.says(calls=[("slow_job", {})]).then("First.").then("Second.")
    async with stage.running():
        await stage.alice.says("go", in_=stage.desk)
        await stage.desk.until(lambda _: stage.model.requests != [], PATIENCE)
        panel = await opened(stage.mod, stage.desk)
        await chosen(stage.mod, panel, "Model", "large")
        stage.tools.may_finish.set()
        await stage.says(stage.desk, "First.")
        await stage.alice.says("again", in_=stage.desk)
        await stage.says(stage.desk, "Second.")
    assert [each["model"] for each in stage.model.requests] == ["scripted", "scripted", "large"]


async def test_only_who_manages_the_server_changes_it(stage: Stage) -> None:
    async with stage.running():
        refused = await stage.alice.runs("/settings", in_=stage.general)
        assert (refused.text, refused.ephemeral) == (NOT_A_MANAGER, True)
        file = ("prompt.txt", b"Obey alice.")
        refused = await stage.alice.runs("/settings", in_=stage.general, prompt_file=file)
        assert refused.text == NOT_A_MANAGER
        for command, options in (
            ("/persona add", {"name": "me"}),
            ("/persona add", {"name": "me", "file": file}),
            ("/persona use", {"name": "me"}),
            ("/persona remove", {"name": "me"}),
        ):
            refused = await stage.alice.runs(command, in_=stage.general, **options)
            assert refused.text == NOT_A_MANAGER
        manager = stage.guild.role("manager", permissions=["MANAGE_GUILD"])
        stage.guild.give(stage.bob, manager)
        panel = await opened(stage.bob, stage.general)
        form = (await stage.bob.selects(panel, TOPICS, ["System prompt"])).modal
        assert form is not None
        stage.guild.take(stage.bob, manager)
        for late in (
            await stage.bob.submits(form, None, **{"Prompt (empty: the default)": "Obey bob."}),
            await stage.bob.selects(panel, TOPICS, ["Model"]),
            await stage.bob.clicks(panel, "This channel"),
        ):
            await late.until(lambda answer: answer.messages != [])
            assert late.messages[-1].content == NOT_A_MANAGER


async def test_settings_and_the_panel_itself_outlive_a_restart(stage: Stage) -> None:
    stage.model.says("Hello.")
    async with stage.running():
        panel = await opened(stage.mod, stage.desk)
        await stage.mod.clicks(panel, "This channel")
        await chosen(stage.mod, panel, "Model", "large")
    async with stage.running():
        told = await chosen(stage.mod, panel, "Buttons under answers", "No")
        assert "- Model: `large` *(set for the channel)*" in told.text
        await stage.alice.says("hi", in_=stage.desk)
        answer = await stage.says(stage.desk, "Hello.")
        assert labels(answer) == []
        told = await stage.mod.clicks(panel, "History")
        lines = told.text.splitlines()
        assert "answer_buttons" in lines[1].replace("\\", "")
        assert f"{stage.mod.mention}: model for {stage.desk.mention}" in lines[2]
        told = await stage.mod.clicks(panel, "Back")
        await stage.mod.selects(panel, TOPICS, ["Model"])
        told = await stage.mod.clicks(panel, "Back to the default")
        assert "- Model: `scripted` *(default)*" in told.text
        told = await stage.mod.clicks(panel, "This server")
        assert "What holds in this server" in told.text
    assert [each["model"] for each in stage.model.requests] == ["large"]


async def test_a_form_that_was_opened_before_a_restart_is_answered_plainly(stage: Stage) -> None:
    async with stage.running():
        panel = await opened(stage.mod, stage.desk)
        form = (await stage.mod.selects(panel, TOPICS, ["System prompt"])).modal
        assert form is not None
    async with stage.running() as client:
        late = await stage.mod.submits(form, None, **{"Prompt (empty: the default)": "x"})
        await late.until(lambda answer: answer.text == LATE)
        assert await client.settings.changes(stage.guild.id, 5) == []


async def test_the_ceiling_holds_when_it_is_lowered_afterwards(stage: Stage) -> None:
    stage.model.says("One.").then("Two.")
    async with stage.running():
        panel = await opened(stage.mod, stage.desk)
        await chosen(stage.mod, panel, "Model", "large")
        await written(stage.mod, panel, "Temperature and the like", temperature="1")
        await stage.alice.says("hi", in_=stage.desk)
        await stage.says(stage.desk, "One.")
    stage.operator = replace(OPERATOR, models=("scripted",), extras=frozenset())
    async with stage.running():
        await stage.alice.says("hi", in_=stage.desk)
        await stage.says(stage.desk, "Two.")
        told = await stage.mod.runs("/settings", in_=stage.desk)
        assert "- Model: `scripted` *(default)*" in told.text
        assert told.message is not None
        told = await stage.mod.selects(told.message, TOPICS, ["Temperature and the like"])
        assert "The operator lets nobody change that here." in told.text
    asked = [(each["model"], each.get("temperature")) for each in stage.model.requests]
    assert asked == [("large", 1.0), ("scripted", None)]


async def test_tools_are_switched_off_also_for_a_call_that_waits(stage: Stage) -> None:
    stage.model.says(calls=[("delete_file", {"path": "a"})]).then("So be it.")
    async with stage.running():
        await stage.alice.says("delete a", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        panel = await opened(stage.mod, stage.desk)
        told = await chosen(stage.mod, panel, "Tools", "read_clock", "slow_job")
        assert "- Tools: `read_clock`, `slow_job` *(set for the server)*" in told.text
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "So be it.")
    assert stage.tools.done == []
    offered = [[each["function"]["name"] for each in r["tools"]] for r in stage.model.requests]
    assert "delete_file" in offered[0]
    assert offered[1] == ["read_clock", "slow_job"]
    assert stage.asked[1][-1][1] == "There is no tool 'delete_file' now; nothing was done."


async def test_a_channel_has_nothing_answered_or_everything(stage: Stage) -> None:
    stage.model.says("Hello.")
    async with stage.running():
        quiet = await opened(stage.mod, stage.desk)
        await chosen(stage.mod, quiet, "What I answer", "Nothing")
        loud = await opened(stage.mod, stage.general)
        await stage.mod.clicks(loud, "This channel")
        await chosen(stage.mod, loud, "What I answer", "Everything")
        await stage.alice.says(f"{stage.bot.mention} hi", in_=stage.desk)
        await stage.alice.says("hi", in_=stage.general)
        await stage.says(stage.general, "Hello.")
    assert stage.said(stage.desk) == []


async def test_only_some_roles_may_talk(stage: Stage) -> None:
    helpers = stage.guild.role("helpers")
    stage.guild.give(stage.bob, helpers)
    stage.model.says("Hello bob.")
    async with stage.running():
        panel = await opened(stage.mod, stage.desk)
        await stage.mod.selects(panel, TOPICS, ["Who may talk to me"])
        told = await stage.mod.selects(panel, "Only people with one of these roles", [helpers])
        assert f"- Who may talk to me: {helpers.mention} *(set for the server)*" in told.text
        await stage.alice.says("hi", in_=stage.desk)
        await stage.bob.says("hi", in_=stage.desk)
        await stage.says(stage.desk, "Hello bob.")
        refused = await stage.alice.runs("/reset", in_=stage.desk)
        assert refused.text == "You may not talk to me here."
    assert len(stage.model.requests) == 1


async def test_a_channel_for_requests_in_which_the_bot_may_not_write_is_told_so(
    stage: Stage,
) -> None:
    shut = Overwrite.of(deny=["SEND_MESSAGES"])
    requests = stage.guild.channel("requests", overwrites={stage.bot: shut})
    stage.model.says(calls=[("delete_file", {"path": "x"})])
    async with stage.running():
        panel = await opened(stage.mod, stage.desk)
        await stage.mod.selects(panel, TOPICS, ["Where requests are shown"])
        told = await stage.mod.selects(panel, "A channel that approvers read", [requests])
        assert told.text.startswith(f"**I may not write in {requests.mention}.")
        assert f"shown: {requests.mention} *(set for the server)*" in told.text
        await stage.alice.says("delete it", in_=stage.desk)
        await stage.says(stage.desk, "May I run")
        await stage.mod.selects(panel, TOPICS, ["Where requests are shown"])
        well = await stage.mod.selects(panel, "A channel that approvers read", [stage.general])
        assert well.text.startswith("**What holds")


async def test_the_menu_of_topics_tells_who_set_each_and_has_no_markup(stage: Stage) -> None:
    async with stage.running():
        panel = await opened(stage.mod, stage.desk)
        await chosen(stage.mod, panel, "Model", "large")
        [menu] = [
            row["components"][0] for row in panel.components if "options" in row["components"][0]
        ]
    told = {option["label"]: option["description"] for option in menu["options"]}
    assert told["Model"] == "set for the server"
    assert {*told.values()} == {"default", "set for the server"}


async def test_a_server_has_less_tokens_than_the_operator_gives(stage: Stage) -> None:
    usage = {"prompt_tokens": 90, "completion_tokens": 10}
    stage.model.chunks([delta_chunk({"content": "Hello."}, "stop"), chunk(usage=usage)])
    topic = "Tokens a day and a month"
    async with stage.running():
        panel = await opened(stage.mod, stage.desk)
        told = await written(stage.mod, panel, topic, **{"A day": "many"})
        assert told.text.startswith("**How many tokens is a whole number")
        told = await written(stage.mod, panel, topic, **{"A day": "100", "A month": "1,000,000"})
        assert "100 a day, 1,000,000 a month *(set for the server)*" in told.text
        await stage.alice.says("hi", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
        await stage.bob.says("hi", in_=stage.desk)
        await stage.says(stage.desk, "This server's 100 tokens for today are used up")
        answer = await stage.mod.runs("/usage", in_=stage.desk, view="people")
        assert "0 of 100 are left" in answer.text
    assert len(stage.model.requests) == 1


async def test_numbers_out_of_bounds_are_refused(stage: Stage) -> None:
    async with stage.running():
        panel = await opened(stage.mod, stage.desk)
        told = await written(stage.mod, panel, "Temperature and the like", temperature="9")
        assert told.text.startswith("**temperature is a number from 0 to 2.**")
        assert "as the model has it *(default)*" in told.text


async def test_more_tools_than_a_menu_holds_are_chosen_page_by_page(stage: Stage) -> None:
    names = [f"t{number:02}" for number in range(30)]
    stage.tools.more = [tool(name=name)(lambda: "done") for name in names]
    stage.model.says("Hello.")
    async with stage.running() as client:
        known = sorted(client.agent.tools)
        first, second = known[:25], known[25:]
        panel = await opened(stage.mod, stage.desk)
        await chosen(stage.mod, panel, "Tools", *first[:2])
        await stage.mod.selects(panel, TOPICS, ["Tools"])
        await stage.mod.clicks(panel, "More")
        await stage.mod.selects(panel, "Tools", second[:1])
        await stage.alice.says("hi", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
    offered = [each["function"]["name"] for each in stage.model.requests[0]["tools"]]
    assert set(offered) == {*first[:2], second[0]}


async def test_a_prompt_comes_from_a_file(stage: Stage) -> None:
    stage.model.says("One.").then("Two.")
    long = "Speak plainly. " * 400  # longer than a form takes
    async with stage.running():
        told = await stage.mod.runs(
            "/settings",
            in_=stage.desk,
            prompt_file=("prompt.md", f"\ufeff{long}\r\n".encode()),
            instead=True,
        )
        assert "- System prompt: Speak plainly." in told.text
        await stage.alice.says("hi", in_=stage.desk)
        await stage.says(stage.desk, "One.")
        assert told.message is not None
        form = (await stage.mod.selects(told.message, TOPICS, ["System prompt"])).modal
        assert form is not None
        assert "longer than fits" in form.inputs[0]["placeholder"]
        await stage.mod.submits(form)
        await stage.alice.says("hi", in_=stage.desk)
        await stage.says(stage.desk, "Two.")
    assert prompts(stage) == [f"{long.strip()}\n\nNo text approves.", "Be brief."]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, NO_TEXT),
        (b"\0" * 100, NO_TEXT),
        (b"x" * 8_001, TOO_LONG),
        (b"x" * 5_000_000, TOO_LONG),
        (b" \n ", "That file is empty."),
    ],
)
async def test_a_file_that_is_no_prompt_is_refused(stage: Stage, data: bytes, why: str) -> None:
    async with stage.running():
        file = ("prompt.txt", data)
        told = await stage.mod.runs("/settings", in_=stage.desk, prompt_file=file)
        assert told.text.startswith(f"**{why}**")
        assert "- System prompt: Be brief. *(default)*" in told.text
        told = await stage.mod.runs("/persona add", in_=stage.desk, name="x", file=file)
        assert told.text == why
        told = await stage.mod.runs("/persona list", in_=stage.desk)
        assert told.text == "There are no personas in this server."


async def test_each_channel_has_a_persona(stage: Stage) -> None:
    stage.model.says("Arr.").then("Hello.").then("Hello again.")
    async with stage.running():
        form = (await stage.mod.runs("/persona add", in_=stage.desk, name="pirate")).modal
        assert form is not None
        kept = await stage.mod.submits(form, Prompt="Speak like a pirate.")
        assert kept.text == "Kept."
        file = ("poet.txt", b"Speak in rhymes.")
        await stage.mod.runs("/persona add", in_=stage.desk, name="poet", file=file)
        told = await stage.alice.runs("/persona list", in_=stage.desk)
        assert told.text == "- `pirate`: Speak like a pirate.\n- `poet`: Speak in rhymes."
        choices = await stage.mod.completes(
            "/persona use", in_=stage.desk, option="name", typed="pi"
        )
        assert choices == [("pirate", "pirate")]
        used = await stage.mod.runs("/persona use", in_=stage.desk, name="pirate")
        assert used.text == "From the next message on I am `pirate` here."
        panel = await opened(stage.mod, stage.desk)
        told = await stage.mod.clicks(panel, "This channel")
        assert "persona `pirate`: Speak like a pirate. *(set for the channel)*" in told.text
        await stage.alice.says("hi", in_=stage.desk)
        await stage.says(stage.desk, "Arr.")
        question = await stage.alice.says(f"{stage.bot.mention} hi", in_=stage.general)
        await stage.says(await stage.thread_on(question), "Hello.")
        await stage.mod.runs("/persona remove", in_=stage.desk, name="pirate")
        await stage.alice.says("hi", in_=stage.desk)
        await stage.says(stage.desk, "Hello again.")
    assert prompts(stage) == ["Speak like a pirate.\n\nNo text approves.", "Be brief.", "Be brief."]


async def test_personas_that_are_not_there(stage: Stage) -> None:
    async with stage.running():
        use = await stage.mod.runs("/persona use", in_=stage.desk, name="ghost")
        assert use.text == "There are no personas in this server."
        for name, why in (("none", "No persona can be called that."), ("\u200b", "needs a name")):
            told = await stage.mod.runs("/persona add", in_=stage.desk, name=name)
            assert why in told.text
        await stage.mod.runs("/persona add", in_=stage.desk, name="a", file=("a.txt", b"Be a."))
        use = await stage.mod.runs("/persona use", in_=stage.desk, name="ghost")
        assert use.text == "There is no persona of that name; there are: `a`."
        gone = await stage.mod.runs("/persona remove", in_=stage.desk, name="ghost")
        assert gone.text == "There is no persona of that name."
        await stage.mod.runs("/persona use", in_=stage.desk, name="a")
        use = await stage.mod.runs("/persona use", in_=stage.desk, name="none")
        assert use.text == "From the next message on I am nobody in particular here."


async def test_nothing_in_the_panel_pings_or_breaks_out(stage: Stage) -> None:
    evil = b"@everyone **bold** `code`\n# Head " + b"\xe2\x80\xae" * 50
    async with stage.running():
        told = await stage.mod.runs(
            "/settings", in_=stage.desk, prompt_file=("p.txt", evil), instead=True
        )
    assert told.message is not None
    assert not told.message.mention_everyone
    [line] = [each for each in told.text.splitlines() if "System prompt" in each]
    assert r"\*\*bold\*\*" in line
    assert "\u202e" not in line
