"""Who is notified by a message, and who is not."""

from typing import Any

import pytest

from bot.sandbox import Sandbox
from tests.sandbox.clients import Home, Http


def pinged(home: Home) -> list[Any]:
    return [ping.who for ping in home.world.pings]


async def posted(home: Home, http: Http, **body: Any) -> Any:
    return (await http("POST", f"/channels/{home.general.id}/messages", body))[1]


async def test_left_out_allowed_mentions_ping_everyone_named(home: Home, http: Http) -> None:
    role = home.guild.role("helpers", mentionable=True)
    text = f"@everyone {role.mention} {home.alice.mention}"
    message = await posted(home, http, content=text)
    assert message["mention_everyone"]
    assert message["mention_roles"] == [str(role.id)]
    assert [each["username"] for each in message["mentions"]] == ["alice"]
    assert pinged(home) == [home.alice, role, "@everyone"]
    assert {ping.by for ping in home.world.pings} == {home.bot}


async def test_an_empty_list_pings_nobody(home: Home, http: Http) -> None:
    role = home.guild.role("helpers", mentionable=True)
    text = f"@everyone @here {role.mention} {home.alice.mention}"
    message = await posted(home, http, content=text, allowed_mentions={"parse": []})
    assert (message["mentions"], message["mention_roles"]) == ([], [])
    assert not message["mention_everyone"]
    assert pinged(home) == []


async def test_only_the_listed_are_pinged(home: Home, http: Http) -> None:
    roles = [home.guild.role(name, mentionable=True) for name in ("one", "two")]
    text = f"{roles[0].mention} {roles[1].mention} {home.alice.mention} {home.mod.mention}"
    allowed = {"users": [str(home.mod.id)], "roles": [str(roles[0].id)]}
    await posted(home, http, content=text, allowed_mentions=allowed)
    assert pinged(home) == [home.mod, roles[0]]


async def test_a_kind_and_a_list_of_it_exclude_each_other(home: Home, http: Http) -> None:
    allowed = {"parse": ["users"], "users": [str(home.mod.id)]}
    message = await posted(home, http, content="hi", allowed_mentions=allowed)
    assert message["code"] == 50035
    assert "_errors" in message["errors"]["allowed_mentions"]


async def test_an_unknown_kind_is_refused(home: Home, http: Http) -> None:
    message = await posted(home, http, content="hi", allowed_mentions={"parse": ["all"]})
    assert message["code"] == 50035


async def test_an_edit_does_not_inherit_what_was_allowed(home: Home, http: Http) -> None:
    message = await posted(home, http, content="@everyone", allowed_mentions={"parse": []})
    path = f"/channels/{home.general.id}/messages/{message['id']}"
    await http("PATCH", path, {"content": "@everyone!", "allowed_mentions": {"parse": []}})
    assert pinged(home) == []
    await http("PATCH", path, {"content": "@everyone again"})
    assert pinged(home) == ["@everyone"]
    await http("PATCH", path, {"content": "@everyone and again"})
    assert pinged(home) == ["@everyone"]


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [(None, 1), ({"parse": []}, 0), ({"parse": [], "replied_user": True}, 1)],
)
async def test_a_reply_pings_its_author_unless_told_not_to(
    home: Home, http: Http, allowed: Any, expected: int
) -> None:
    said = await home.alice.says("hello", in_=home.general)
    reference = {"message_id": str(said.id)}
    await posted(home, http, content="hi", message_reference=reference, allowed_mentions=allowed)
    assert pinged(home) == [home.alice] * expected


async def test_without_the_permission_everyone_is_not_pinged(home: Home, http: Http) -> None:
    everyone = home.guild.everyone
    everyone.permissions &= ~everyone.permissions.MENTION_EVERYONE
    role = home.guild.role("quiet")
    await posted(home, http, content=f"@everyone {role.mention}")
    assert pinged(home) == []


async def test_nobody_but_the_two_is_pinged_in_a_dm(home: Home, sandbox: Sandbox) -> None:
    role = home.guild.role("helpers", mentionable=True)
    dm = home.alice.dm(home.bot)
    await home.alice.says(f"@everyone {role.mention} {home.bot.mention}", in_=dm)
    assert pinged(home) == [home.bot]
