"""Permissions are computed as Discord computes them."""

from bot.sandbox import Overwrite, Permissions
from tests.sandbox.clients import Home

SEND = Permissions.SEND_MESSAGES


def test_a_stranger_may_nothing(home: Home) -> None:
    assert home.general.permissions_for(home.world.person("stranger")) == 0


def test_owner_and_administrators_may_everything(home: Home) -> None:
    boss = home.world.person("boss")
    home.guild.join(boss, permissions={"ADMINISTRATOR"})
    home.general.overwrites[home.guild.everyone] = Overwrite.of(deny={"VIEW_CHANNEL"})
    for each in (boss, home.guild.owner):
        assert Permissions.BAN_MEMBERS in home.general.permissions_for(each)


def test_overwrites_apply_from_everyone_over_roles_to_the_member(home: Home) -> None:
    role = home.guild.role("writers")
    home.guild.give(home.alice, role)
    overwrites = home.general.overwrites
    overwrites[home.guild.everyone] = Overwrite.of(deny={"SEND_MESSAGES"})
    assert SEND not in home.general.permissions_for(home.alice)
    overwrites[role] = Overwrite.of(allow={"SEND_MESSAGES"})
    assert SEND in home.general.permissions_for(home.alice)
    overwrites[home.alice] = Overwrite.of(deny={"SEND_MESSAGES"})
    assert SEND not in home.general.permissions_for(home.alice)


def test_among_roles_allowing_wins(home: Home) -> None:
    yes, no = home.guild.role("yes"), home.guild.role("no")
    for role in (yes, no):
        home.guild.give(home.alice, role)
    home.general.overwrites[yes] = Overwrite.of(allow={"SEND_MESSAGES"})
    home.general.overwrites[no] = Overwrite.of(deny={"SEND_MESSAGES"})
    assert SEND in home.general.permissions_for(home.alice)


def test_without_sending_there_are_no_files_and_no_pings(home: Home) -> None:
    home.general.overwrites[home.alice] = Overwrite.of(deny={"SEND_MESSAGES"})
    granted = home.general.permissions_for(home.alice)
    assert Permissions.ATTACH_FILES not in granted
    assert Permissions.MENTION_EVERYONE not in granted
    assert Permissions.READ_MESSAGE_HISTORY in granted


def test_without_viewing_there_is_nothing(home: Home) -> None:
    home.general.overwrites[home.alice] = Overwrite.of(deny={"VIEW_CHANNEL"})
    assert home.general.permissions_for(home.alice) == 0


def test_a_dm_belongs_to_two(home: Home) -> None:
    dm = home.alice.dm(home.bot)
    assert SEND in dm.permissions_for(home.alice)
    assert SEND in dm.permissions_for(home.bot)
    assert dm.permissions_for(home.mod) == 0
    assert home.alice.dm(home.bot) is dm
