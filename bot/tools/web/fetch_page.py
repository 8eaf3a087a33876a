"""The tool itself.

What is not promised here: which of the addresses that people wrote a model chooses to fetch, and
that a public address is not one of the operator's own machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp.abc import AbstractResolver

from bot.agent import Tool, tool
from bot.agent.history.untrusted import as_data
from bot.agent.history.visible import one_line
from bot.agent.tools.threads import in_daemon_thread
from bot.errors import ToolError
from bot.sessions import Session
from bot.tools.web.addresses import Allow, is_allowed
from bot.tools.web.browser import HTML, Browser, Fetched
from bot.tools.web.decoding import decoded
from bot.tools.web.reading import Page, page_of
from bot.tools.web.urls import checked, was_written

MAX_TEXT = 40_000
"""Characters of a page that the model is told."""


def fetch_page_tool(*, allow: Allow = is_allowed, resolver: AbstractResolver | None = None) -> Tool:
    """Return the tool.

    Args:
        allow: Where connections may be made to.
        resolver: Looks names up; aiohttp's own one by default.
    """
    browser = Browser(allow=allow, resolver=resolver)

    @tool(approval=asks, timeout=60, idempotent=True)
    async def fetch_page(url: str) -> str:
        """Fetch a public web page and return its text.

        It runs at once for an address that a person wrote in this conversation, unchanged; any
        other has to be approved.

        Args:
            url: The page's full address, beginning with https:// or http://.
        """
        fetched = await browser.fetch(checked(url))
        return await in_daemon_thread(lambda: told(fetched), name="fetch_page")

    return fetch_page


def asks(arguments: Mapping[str, Any], session: Session) -> bool:
    """Whether a human is asked: an address that a model made up can carry secrets away."""
    try:
        checked(arguments["url"])
    except ToolError:
        return False  # it fails, and nobody has to be asked for that
    return not was_written(arguments["url"], session)


def told(fetched: Fetched) -> str:
    """Return a page as the model is told it.

    Raises:
        ToolError: if it cannot be read.
    """
    text, cut = decoded(fetched)
    if fetched.media_type in HTML:
        page = page_of(text, fetched.url, MAX_TEXT)
    else:
        page = Page("", text[:MAX_TEXT], cut=len(text) > MAX_TEXT)
    title = f"Title: {one_line(page.title, 200)}" if page.title else ""
    lines = [
        f"Address: {fetched.url}",
        as_data("\n".join(filter(None, (title, page.text))) or "(The page has no text.)"),
        "(The page is longer; this is its beginning.)" if cut or page.cut else "",
    ]
    return "\n".join(filter(None, lines))


fetch_page = fetch_page_tool()
