"""Addresses of pages as they are written: which can be fetched, and which a person wrote."""

from __future__ import annotations

import re

from yarl import URL

from bot.errors import ToolError
from bot.events import UserMessageEvent
from bot.sessions import Session
from bot.tools.web.addresses import PORTS, address_of, is_public

MAX_URL = 2000

_WRITTEN = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_AROUND = frozenset(".,;:!?'`*_~|)]}")
"""What ends a sentence, or closes what an address was written in."""


def checked(written: str) -> URL:
    """Return an address that may be tried; where it leads is checked when it is connected to.

    Raises:
        ToolError: telling the model what is wrong.
    """
    if len(written) > MAX_URL or not written.isprintable() or set(" \\") & set(written):
        raise ToolError("This is no address of a web page.")
    try:
        url = URL(written)
        host, port = url.host, url.port
    except ValueError as exc:
        raise ToolError("This is no address of a web page.") from exc
    if url.scheme not in ("http", "https") or not host:
        raise ToolError("Only addresses that begin with http:// or https:// can be fetched.")
    if url.raw_user is not None or url.raw_password is not None:
        raise ToolError("Addresses with a user name or a password are not fetched.")
    if port not in PORTS:
        raise ToolError("Only the ports 80 and 443 are fetched.")
    _check_host(host)
    return url.with_fragment(None)


def _check_host(host: str) -> None:
    """Refuse what cannot be a public name; a name that leads elsewhere is refused later."""
    address = address_of(host)
    if address is not None:
        if not is_public(address):
            raise ToolError("Only public addresses are fetched.")
        return
    labels = host.rstrip(".").lower().split(".")
    ends_in_number = labels[-1][:1].isdigit()  # 127.1, 0x7f.0.0.1, 2130706433: old forms of IPv4
    if len(labels) < 2 or ends_in_number or labels[-1] == "localhost":
        raise ToolError("Only public addresses are fetched.")


def was_written(url: str, session: Session) -> bool:
    """Whether a person wrote exactly this address in the part of the log that is remembered."""
    is_bare = url.count("/") == 3 and url.endswith("/")  # "https://host" is written without it
    wanted = url[:-1] if is_bare else url
    texts = (event.text for event in session.events if isinstance(event, UserMessageEvent))
    return any(
        _is_written(found[0], wanted, is_bare=is_bare)
        for text in texts
        if wanted in text
        for found in _WRITTEN.finditer(text)
    )


def _is_written(found: str, wanted: str, *, is_bare: bool) -> bool:
    """Whether an address as it stands in a text is the wanted one, but for what stands around."""
    rest = found.removeprefix(wanted)
    rest = rest.removeprefix("/") if is_bare else rest
    return found.startswith(wanted) and _AROUND.issuperset(rest)
