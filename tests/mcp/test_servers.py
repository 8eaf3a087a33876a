"""Servers as programs: their tools called, lost in mid-call, started again, and odd habits."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from bot import (
    ExecutionContext,
    File,
    InMemorySessionManager,
    Session,
    ToolError,
    ToolOutcomeUnknownError,
    ToolOutput,
)
from bot.config import StdioServer
from bot.errors import ConfigError
from bot.mcp import Servers, open_servers
from tests.mcp.conftest import QUICK, names, output_of, pids, until, used, workshop

TOOLS = [
    "shop_die",
    "shop_echo",
    "shop_fail",
    "shop_grow",
    "shop_picture",
    "shop_shrink",
    "shop_steps",
    "shop_structure",
    "shop_variables",
    "shop_wait",
]


async def test_tools_are_listed_in_the_order_of_their_names_and_ask() -> None:
    async with open_servers([workshop()], QUICK) as servers:
        tools = servers.tools(())
        assert list(tools) == TOOLS
        assert servers.tools(()) is tools
        echo = tools["shop_echo"]
        assert echo.definition["function"]["description"] == "Say it again."
        assert echo.parameters.schema["required"] == ["text"]
        assert echo.parameters.effective({"text": "hi"}) == {"text": "hi", "times": 1}
        assert all(
            each.is_gated({}, Session("s")) and not each.idempotent for each in tools.values()
        )


async def test_who_needs_a_tool_of_a_server_that_is_late_waits_for_it(tmp_path: Path) -> None:
    opens, late = tmp_path / "open", replace(QUICK, start=0.01)
    async with open_servers([workshop("late", str(opens))], late) as servers:
        assert names(servers) == []
        waiting = asyncio.create_task(servers.arrived("shop_echo"))
        await servers.arrived("other_tool")
        assert not waiting.done()
        opens.touch()
        await waiting
        assert names(servers) == TOOLS
        await servers.arrived("shop_none")


async def test_who_needs_a_tool_of_a_server_that_never_comes_waits_no_longer_than_is_bearable(
    tmp_path: Path,
) -> None:
    wrong = StdioServer(name="wrong", command=str(tmp_path / "no-such-program"))
    async with open_servers([wrong], replace(QUICK, back=0.05)) as servers:
        await servers.arrived("wrong_tool")
        assert names(servers) == []


async def test_tools_that_only_read_are_free_where_the_file_says_so() -> None:
    async with open_servers([workshop(trust_read_only=True, timeout=7)], QUICK) as servers:
        tools = servers.tools(())
        free = [name for name, each in tools.items() if not each.is_gated({}, Session("s"))]
        assert free == ["shop_echo"]
        assert [name for name, each in tools.items() if each.idempotent] == free
        assert {each.timeout for each in tools.values()} == {7}


async def test_results_are_told_as_text() -> None:
    told: list[str] = []
    async with open_servers([workshop()], QUICK) as servers:
        tools = servers.tools(())
        assert await used(tools["shop_echo"], text="Hi", times=2) == "Hi Hi"
        assert await used(tools["shop_structure"]) == '{"size": 3, "who": "Ää"}'
        context = ExecutionContext(session=Session("s"), session_manager=InMemorySessionManager())
        drawn = await output_of(tools["shop_picture"], context)
        assert drawn == ToolOutput("a dot", (File("image.png", b"\x89PNG", "image/png"),))
        assert await used(tools["shop_steps"], told) == "done"
        with pytest.raises(ToolError, match=r"^no wood left$"):
            await used(tools["shop_fail"])
    assert told == ["sawing (1/2)", "2/2"]


async def test_a_server_gets_the_variables_of_the_file_and_none_of_the_bots(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "hush")
    async with open_servers([workshop(env={"MINE": "1"})], QUICK) as servers:
        found = await used(servers.tools(())["shop_variables"])
    assert "MINE" in found.split(",")
    assert "DISCORD_TOKEN" not in found


async def test_a_call_in_which_the_server_dies_has_an_unknown_outcome_and_the_next_one_works() -> (
    None
):
    async with open_servers([workshop()], QUICK) as servers:
        tools = servers.tools(())
        with pytest.raises(ToolOutcomeUnknownError, match="shop was lost in the middle"):
            await used(tools["shop_die"])
        assert list(servers.tools(())) == TOOLS
        assert await used(tools["shop_echo"], text="again") == "again"


async def test_a_server_that_is_killed_in_mid_call_is_started_again(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with open_servers([workshop(str(note))], QUICK) as servers:
        wait = servers.tools(())["shop_wait"]
        call = asyncio.create_task(used(wait, note=str(note)))
        await until(note.exists)
        [before] = pids(str(note))
        os.kill(before, signal.SIGKILL)
        with pytest.raises(ToolOutcomeUnknownError):
            await call
        assert await used(servers.tools(())["shop_echo"], text="again") == "again"
        assert pids(str(note)) != [before]


async def test_a_call_that_is_given_up_is_cancelled_at_the_server(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with open_servers([workshop()], QUICK) as servers:
        tools = servers.tools(())
        call = asyncio.create_task(used(tools["shop_wait"], note=str(note)))
        await until(note.exists)
        call.cancel()
        await until(lambda: note.read_text() == "cancelled")
        assert await used(tools["shop_echo"], text="still here") == "still here"


async def test_changes_of_the_list_are_followed() -> None:
    async with open_servers([workshop()], QUICK) as servers:
        assert await used(servers.tools(())["shop_grow"]) == "learned"
        await until(lambda: "shop_sing" in servers.tools(()))
        assert "shop_shrink" not in names(servers)
        assert await used(servers.tools(())["shop_sing"]) == "la"


async def test_two_servers_with_the_same_tools_are_told_apart() -> None:
    settings = [workshop(name="a"), workshop(name="b"), workshop(name="a_b")]
    async with open_servers(settings, QUICK) as servers:
        tools = servers.tools({"a_echo"})
        assert len(tools) == 3 * len(TOOLS)
        assert "a_echo" not in tools
        assert {"b_echo", "a_b_echo", "a_die"} <= tools.keys()
        assert list(tools) == sorted(tools)


async def test_one_that_never_answers_delays_the_start_for_a_bounded_time_and_nobody_else() -> None:
    settings = [workshop("mute", name="mute"), workshop()]
    async with open_servers(settings, replace(QUICK, start=8)) as servers:
        await until(lambda: servers.tools(()))
        mute, shop = servers.servers
        assert mute.problem == "it does not answer yet"
        assert shop.problem == ""
        assert await used(servers.tools(())["shop_echo"], text="hi") == "hi"


async def test_one_that_does_not_answer_in_time_is_started_again() -> None:
    patience = replace(QUICK, connect=0.5)
    async with open_servers([workshop("mute")], patience) as servers:
        assert servers.servers[0].problem == "it did not answer in time"
        assert names(servers) == []


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (StdioServer(name="x", command="no-such-program"), "there is no no-such-program"),
        (StdioServer(name="x", command=__file__), "test_servers.py may not be run"),
        (StdioServer(name="x", command="true"), "MCPError -32000"),
    ],
)
async def test_one_that_cannot_be_started_is_told_and_tried_again_later(
    settings: StdioServer, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    patience = replace(QUICK, first_delay=0.01, max_delay=0.05, settled=60)
    async with open_servers([settings], patience) as servers:
        assert servers.servers[0].problem.endswith(told)
        await until(lambda: "started again in 0.02 s" in caplog.text)
        await until(lambda: caplog.text.count("started again in 0.05 s") > 1)


async def test_a_call_of_one_that_does_not_run_says_that_nothing_was_done() -> None:
    patience = replace(QUICK, back=0.1, first_delay=60, max_delay=60)
    async with open_servers([workshop()], patience) as servers:
        tools = servers.tools(())
        with pytest.raises(ToolOutcomeUnknownError):
            await used(tools["shop_die"])
        with pytest.raises(ToolError, match="shop does not run at the moment; nothing was done"):
            await used(tools["shop_echo"], text="hi")


async def test_garbage_on_standard_output_and_floods_of_errors_do_no_harm() -> None:
    async with open_servers([workshop("garbage", "flood")], QUICK) as servers:
        assert await used(servers.tools(())["shop_echo"], text="hi") == "hi"


async def test_what_a_server_logs_is_logged_at_debug_without_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "bot.mcp")
    async with open_servers([workshop("secret", env={"KEY": "abc-123-xyz"})], QUICK):
        await until(lambda: "and more" in caplog.text)
    assert "server shop: 'the key is ***'" in caplog.text
    assert "abc-123-xyz" not in caplog.text


async def test_without_servers_nothing_is_loaded() -> None:
    async with open_servers([]) as servers:
        assert servers.tools(()) == {}


async def test_without_the_sdk_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'parley\[mcp\]'"):
        async with open_servers([workshop()]):
            pass


async def test_they_end_with_the_block_however_it_is_left(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    settings = [workshop(mark), workshop(mark, name="b")]

    async def left_when_one_has_just_died() -> None:
        async with open_servers(settings, QUICK) as servers:
            assert len(pids(mark)) == 2
            await used(servers.tools(())["shop_die"])

    with pytest.raises(ToolOutcomeUnknownError):
        await left_when_one_has_just_died()
    assert pids(mark) == []


def test_a_schema_that_is_none_leaves_its_tool_out(caplog: pytest.LogCaptureFixture) -> None:
    from mcp.types import Tool as Offered

    servers = Servers([workshop()])
    good = Offered(name="good", input_schema={"type": "object"}, description="x" * 10_000)
    servers.servers[0].offered = [good, Offered(name="bad", input_schema={"type": 3}), good]
    servers._changed(servers.servers[0])
    [tool] = servers.tools(()).values()
    assert len(tool.description) == 4_000
    assert "tool 'bad' is left out: its schema is not valid" in caplog.text
    assert "tool shop_good exists twice" in caplog.text


def test_more_tools_than_services_take_are_told(caplog: pytest.LogCaptureFixture) -> None:
    from mcp.types import Tool as Offered

    servers = Servers([workshop()])
    offered = [Offered(name=f"t{n}", input_schema={"type": "object"}) for n in range(129)]
    servers.servers[0].offered = offered
    servers._changed(servers.servers[0])
    assert len(servers.tools(())) == 129
    assert "there are 129 tools; many model services take 128" in caplog.text
