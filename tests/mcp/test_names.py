"""Names of servers' tools: valid, never two alike, and the same whoever is up."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.mcp.names import prefixes, tool_name

SERVERS = st.lists(st.text("ab_- é", min_size=1, max_size=40), unique=True, min_size=1, max_size=5)
TOOLS = st.lists(st.text("ab_-./é", max_size=70), unique=True, max_size=6)


@given(SERVERS, TOOLS, st.sets(st.sampled_from(["a_b", "a_a", "b_a"])))
def test_all_names_are_valid_and_no_two_are_alike(
    servers: list[str], tools: list[str], taken: set[str]
) -> None:
    made = prefixes(servers)
    names = [tool_name(server, tool, made, taken) for server in servers for tool in tools]
    assert len({*names, *taken}) == len(names) + len(taken)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("time", "get_time", "time_get_time"),
        ("git hub", "get-issue", "git_hub_get-issue"),
        ("git", "hub_x", "git_hub_x_"),  # might be the tool x of the server git_hub
        ("git_hub", "x", "git_hub_x"),
        ("time", "get.time", "time_get_time_"),
        ("time", "t" * 80, f"time_{'t' * 50}_"),
        ("time", "taken", "time_taken_"),
    ],
)
def test_a_name_is_plain_where_it_is_clear_and_ends_with_a_hash_elsewhere(
    server: str, tool: str, name: str
) -> None:
    made = prefixes(["time", "git", "git hub" if server == "git hub" else "git_hub"])
    found = tool_name(server, tool, made, {"time_taken"})
    digest = found.removeprefix(name)
    assert found.startswith(name)
    assert re.fullmatch(r"[0-9a-f]{8}" if name.endswith("_") else "", digest)


def test_servers_whose_names_differ_in_odd_characters_only_have_a_hash() -> None:
    made = prefixes(["my shop", "my.shop", "other"])
    assert made["other"] == "other"
    assert len(set(made.values())) == 3
    assert all(re.fullmatch(r"my_shop_[0-9a-f]{8}", made[name]) for name in ("my shop", "my.shop"))
