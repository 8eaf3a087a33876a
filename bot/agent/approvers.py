"""Who may approve the calls of a tool, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvers:
    """The kinds of people of whom any one may approve.

    Attributes:
        requester: Whoever wrote the message that led to the call.
        moderator: Whoever moderates the server.
        owner: The bot's owner.
        roles: Ids of roles.
        two_person: Whether it has to be somebody else than the requester.
    """

    requester: bool = False
    moderator: bool = False
    owner: bool = False
    roles: frozenset[str] = frozenset()
    two_person: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.roles, frozenset):
            raise TypeError("roles are a frozenset of ids")
        if not all(self.roles):
            raise ValueError("a role is named by its id")
        if self.requester and self.two_person:
            raise ValueError("with two persons it cannot be the requester who approves")
        if not (self.requester or self.moderator or self.owner or self.roles):
            raise ValueError("nobody could approve: name a kind of people")
