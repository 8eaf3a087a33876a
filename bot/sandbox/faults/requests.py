"""What is to go wrong with requests, in the words of a test."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypedDict, Unpack

from bot.sandbox.rate_limits.traffic import Scope
from bot.sandbox.refusals.errors import Refusal
from bot.sandbox.resources.channels import Place
from bot.sandbox.resources.messages import Attachment, Message
from bot.sandbox.timing.gates import Gate

API = "/api/v10"
ANY = "*"


class Trouble(TypedDict, total=False):
    """What can go wrong; see RequestFault."""

    fails: int | Refusal
    html: bool
    resets: bool
    held_by: Gate
    after_effect: bool
    retry_after: float
    scope: Scope
    times: int | None
    skip: int


@dataclass(eq=False)
class RequestFault:
    """One trouble and the requests that it befalls.

    Attributes:
        method: The method of these requests; "*" is any.
        paths: Patterns of their paths, without the API's prefix; "*" is one part of a path,
            "**" any number.
        fails: The status, or the refusal, of the answer. 429 has the JSON of a rate limit.
        html: The answer is a page, as what stands in front of Discord gives it, and no JSON.
        resets: The connection is reset in the place of an answer.
        held_by: The answer waits for this gate.
        after_effect: What was asked is done first: only the answer is lost or late.
        retry_after: Seconds, for answers that name them.
        scope: Whose limit a 429 tells of.
        times: How many requests it befalls; None for all.
        skip: How many requests it lets pass first.
        hits: How many it has befallen.
    """

    method: str
    paths: tuple[str, ...]
    fails: int | Refusal | None = None
    html: bool = False
    resets: bool = False
    held_by: Gate | None = None
    after_effect: bool = False
    retry_after: float = 1.0
    scope: Scope = Scope.USER
    times: int | None = 1
    skip: int = 0
    hits: int = 0

    def __post_init__(self) -> None:
        if self.fails is None and not self.resets and self.held_by is None:
            raise ValueError("it needs fails=, resets=True or held_by=")
        self._patterns = [_pattern(each) for each in self.paths]

    @property
    def is_over(self) -> bool:
        """Whether it befalls nothing more."""
        return self.times is not None and self.hits >= self.times

    def ends(self) -> None:
        """Let requests alone from now on."""
        self.times = self.hits

    def befalls(self, method: str, path: str) -> bool:
        """Whether it befalls this request; counts those that match."""
        if self.is_over or self.method not in (ANY, method):
            return False
        if not any(each.fullmatch(path.removeprefix(API)) for each in self._patterns):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.hits += 1
        return True


def _pattern(path: str) -> re.Pattern[str]:
    parts = [re.escape(part).replace(r"\*", "[^/]*") for part in path.split("**")]
    return re.compile(".*".join(parts))


class RequestFaults:
    """The faults of requests that are to come, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._troubles: list[RequestFault] = []
        self._gates: set[Gate] = set()

    def next_send(self, *, in_: Place | None = None, **how: Unpack[Trouble]) -> RequestFault:
        """Trouble the next message that a bot posts, anywhere or in a place."""
        return self.next_request("POST", f"/channels/{_id(in_)}/messages", **how)

    def next_edit(
        self, *, in_: Place | None = None, of: Message | None = None, **how: Unpack[Trouble]
    ) -> RequestFault:
        """Trouble the next edit, of any message or of one."""
        return self.next_request("PATCH", f"/channels/{_id(in_)}/messages/{_id(of)}", **how)

    def next_thread(self, *, in_: Place | None = None, **how: Unpack[Trouble]) -> RequestFault:
        """Trouble the next thread that a bot opens, on a message or in a channel."""
        channel = f"/channels/{_id(in_)}"
        return self.next_request(
            "POST", f"{channel}/messages/*/threads", f"{channel}/threads", **how
        )

    def next_download(
        self, *, of: Attachment | None = None, **how: Unpack[Trouble]
    ) -> RequestFault:
        """Trouble the next reading of an attachment, of any or of one."""
        return self.next_request("GET", f"/attachments/*/{_id(of)}/*", **how)

    def next_request(self, method: str, *paths: str, **how: Unpack[Trouble]) -> RequestFault:
        """Trouble the next request that matches; ``how`` are the fields of RequestFault."""
        fault = RequestFault(method, paths, **how)
        self._troubles.append(fault)
        if fault.held_by is not None:
            self._gates.add(fault.held_by)
        return fault

    def release_all(self) -> None:
        """Hold nothing up any more."""
        for gate in self._gates:
            gate.release()

    def taken(self, method: str, path: str) -> RequestFault | None:
        """Return the fault that befalls a request."""
        found = next((each for each in self._troubles if each.befalls(method, path)), None)
        self._troubles = [each for each in self._troubles if not each.is_over]
        return found


def _id(thing: Place | Message | Attachment | None) -> str:
    return ANY if thing is None else str(thing.id)
