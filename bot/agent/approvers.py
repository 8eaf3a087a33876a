"""Who may approve the calls of a tool, as plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.agent.approvals import Actor

_NAMED = re.compile(r"(?P<kind>role|user):(?P<id>[1-9][0-9]{0,19})")
_KINDS = ("requester", "moderator", "owner", "two_person")


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvers:
    """The kinds of people of whom any one may approve; with none of them, whoever may anyway.

    Attributes:
        requester: Whoever wrote the message that led to the call.
        moderator: Whoever moderates the server.
        owner: The bot's owner, who always may, unless it takes two persons.
        roles: Ids of roles.
        users: Ids of users, without what comes before the number.
        two_person: Whether it has to be somebody else than the requester.
    """

    requester: bool = False
    moderator: bool = False
    owner: bool = False
    roles: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    two_person: bool = False

    def __post_init__(self) -> None:
        if not (isinstance(self.roles, frozenset) and isinstance(self.users, frozenset)):
            raise TypeError("roles and users are a frozenset of ids")
        if not (all(self.roles) and all(self.users)):
            raise ValueError("a role is named by its id")
        if self.requester and self.two_person:
            raise ValueError("with two persons it cannot be the requester who approves")
        if not (self.names_people or self.two_person):
            raise ValueError("nobody could approve: name a kind of people")

    @classmethod
    def of(cls, words: str | Iterable[str]) -> Approvers:
        """Return the approvers that words tell.

        They are ``requester``, ``moderator``, ``owner``, ``role:ID``, ``user:ID``, ``two_person``.

        Raises:
            ValueError: naming a word that says nothing, or what makes no sense together.
        """
        given = words.replace(",", " ").split() if isinstance(words, str) else list(words)
        named: dict[str, set[str]] = {"role": set(), "user": set()}
        for word in given:
            found = _NAMED.fullmatch(word)
            if found is not None:
                named[found["kind"]].add(found["id"])
            elif word not in _KINDS:
                raise ValueError(f"must be {', '.join(_KINDS)}, role:ID or user:ID, not {word!r}")
        return cls(
            requester="requester" in given,
            moderator="moderator" in given,
            owner="owner" in given,
            roles=frozenset(named["role"]),
            users=frozenset(named["user"]),
            two_person="two_person" in given,
        )

    @property
    def words(self) -> tuple[str, ...]:
        """What `of` is told to make these."""
        kinds = [kind for kind in _KINDS if getattr(self, kind)]
        roles = (f"role:{each}" for each in sorted(self.roles))
        users = (f"user:{each}" for each in sorted(self.users))
        return (*kinds, *roles, *users)

    @property
    def names_people(self) -> bool:
        """Whether they say who, and not only that it takes two persons."""
        return self.requester or self.moderator or self.owner or bool(self.roles or self.users)

    def over(self, lower: Approvers) -> Approvers:
        """Return these where `lower` said something else; two persons stay two."""
        two_person = self.two_person or lower.two_person
        said = self if self.names_people else lower
        if two_person and said.requester:
            said = replace(said, requester=False, two_person=True, moderator=True)
        return replace(said, two_person=two_person)

    def include(self, requested_by: str, actor: Actor) -> bool:
        """Whether somebody is one of those who are named; an owner of the bot always is."""
        return (
            actor.owner
            or (self.moderator and actor.moderator)
            or (self.requester and actor.user_id == requested_by)
            or actor.user_id.removeprefix("user-") in self.users
            or bool(self.roles & actor.roles)
        )
