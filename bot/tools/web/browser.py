"""Fetching a page: every connection checked as it is made, every redirect followed by hand."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address

import aiohttp
from aiohappyeyeballs import AddrInfoType
from aiohttp.abc import AbstractResolver
from yarl import URL

from bot.agent.history.visible import one_line
from bot.errors import ToolError
from bot.tools.web.addresses import Allow
from bot.tools.web.urls import checked

MAX_BYTES = 2_000_000
"""Of a page; what is longer is cut, on its way and again when it is unpacked."""
MAX_REDIRECTS = 5
SECONDS = 20.0
"""For a page with all its redirects."""
HEADERS = {
    "User-Agent": "Parley (a Discord bot that reads pages for people)",
    "Accept": "text/html, text/plain, text/markdown, application/json, application/xml;q=0.9",
    "Accept-Encoding": "gzip",
}

HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = frozenset(
    {"text/plain", "text/markdown", "text/xml", "application/xml", "application/json"}
)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What came from a server.

    Attributes:
        url: Where, after all redirects.
        media_type: In small letters, without parameters.
        charset: As the server told it, or empty.
        encoding: How the body is packed.
        body: At most `MAX_BYTES`.
        cut: Whether there was more of it.
    """

    url: URL
    media_type: str
    charset: str
    encoding: str
    body: bytes
    cut: bool


class Browser:
    """Fetches pages, without cookies, credentials or proxies.

    The check is made where the socket is: on the very address that is then connected to, whatever
    a name resolved to before. So there is nothing that could change in between.
    """

    def __init__(self, *, allow: Allow, resolver: AbstractResolver | None = None) -> None:
        self._allow = allow
        self._resolver = resolver

    async def fetch(self, url: URL) -> Fetched:
        """Fetch a page.

        Raises:
            ToolError: if there is none, or it may not be fetched.
        """
        try:
            async with asyncio.timeout(SECONDS):
                async with self._session() as session:
                    return await _followed(session, url)
        except TimeoutError as exc:
            raise ToolError(f"The page did not come within {SECONDS:g} seconds.") from exc
        except aiohttp.ClientConnectorError as exc:
            raise ToolError("No public server can be reached there.") from exc
        except (aiohttp.ClientError, ValueError) as exc:
            raise ToolError("The server did not answer as web servers do.") from exc

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[aiohttp.ClientSession]:
        connector = aiohttp.TCPConnector(
            resolver=self._resolver,
            socket_factory=self._socket,
            use_dns_cache=False,
            force_close=True,  # each hop is a connection of its own, and so checked
            happy_eyeballs_delay=None,
        )
        async with aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,  # this is done with a limit, later
            headers=HEADERS,
        ) as session:
            yield session

    def _socket(self, info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _, to = info
        if not self._allow(ip_address(to[0]), int(to[1])):
            raise OSError("not a public address")  # as aiohttp expects it of what cannot be had
        return socket.socket(family=family, type=kind, proto=protocol)


async def _followed(session: aiohttp.ClientSession, url: URL) -> Fetched:
    for _ in range(MAX_REDIRECTS + 1):
        async with session.get(url, allow_redirects=False) as response:
            if response.status not in _REDIRECTS or "Location" not in response.headers:
                return await _read(url, response)
            url = _next(url, response.headers)
    raise ToolError(f"The page redirects more than {MAX_REDIRECTS} times.")


def _next(url: URL, headers: Mapping[str, str]) -> URL:
    try:
        target = checked(str(url.join(URL(headers["Location"]))))
    except ToolError as exc:
        raise ToolError(f"The page redirects to another address. {exc}") from exc
    if url.scheme == "https" and target.scheme == "http":
        raise ToolError("The page redirects from https to http, which is not followed.")
    return target


def _kind(response: aiohttp.ClientResponse) -> str:
    """Return the media type of a page of text.

    Raises:
        ToolError: if it is none.
    """
    if response.status >= 400:
        raise ToolError(f"The server answered with the status {response.status}.")
    kind = response.content_type if "Content-Type" in response.headers else "of unknown kind"
    if kind not in HTML | _TEXT and not kind.endswith(("+xml", "+json")):
        raise ToolError(f"This is no page of text: it is {one_line(kind, 60)}.")
    return kind


async def _read(url: URL, response: aiohttp.ClientResponse) -> Fetched:
    kind = _kind(response)
    body, cut = bytearray(), False
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_BYTES:
            cut = True
            break
    return Fetched(
        url=url,
        media_type=kind,
        charset=response.charset or "",
        encoding=response.headers.get("Content-Encoding", "").strip().lower(),
        body=bytes(body[:MAX_BYTES]),
        cut=cut,
    )
