"""Servers at an address: headers sent, sessions lost and found, addresses where nobody is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot import ToolError
from bot.mcp import Server, open_servers
from tests.mcp.conftest import KEY, QUICK, Address, names, until, used


async def test_headers_are_sent_with_every_request(address: Address) -> None:
    async with address.served(), open_servers([address.settings], QUICK) as servers:
        assert names(servers) == ["web_whoami"]
        assert await used(servers.tools(())["web_whoami"]) == KEY


async def test_an_address_where_nobody_is_yet_is_found_later(address: Address) -> None:
    async with open_servers([address.settings], replace(QUICK, max_delay=0.1)) as servers:
        assert servers.servers[0].problem == "ConnectError"
        async with address.served():
            await until(lambda: names(servers))
            assert await used(servers.tools(())["web_whoami"]) == KEY


async def test_a_server_that_was_replaced_by_another_is_noticed_by_looking_after_it(
    address: Address,
) -> None:
    patience = replace(QUICK, look=0.1, max_delay=0.1)
    async with open_servers([address.settings], patience) as servers:
        async with address.served():
            await until(lambda: names(servers) == ["web_whoami"])
        async with address.served("another"):
            await until(lambda: names(servers) == ["web_another", "web_whoami"])
            assert await used(servers.tools(())["web_another"]) == KEY


async def test_a_server_that_has_gone_is_told_and_the_next_call_finds_it_again(
    address: Address,
    caplog: pytest.LogCaptureFixture,
) -> None:
    patience = replace(QUICK, back=0.2, max_delay=0.1)
    async with open_servers([address.settings], patience) as servers:
        async with address.served():
            await until(lambda: names(servers))
        tool = servers.tools(())["web_whoami"]
        with pytest.raises(ToolError):
            await used(tool)
        async with address.served():
            await until(lambda: is_well(servers.servers[0]))
            assert await used(tool) == KEY
    assert KEY not in caplog.text


def is_well(server: Server) -> bool:
    return not server.problem
