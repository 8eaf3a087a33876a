"""Public pages are fetched, within limits, and told as data."""

import asyncio
import gzip
import zlib

import pytest
import yarl
from aiohttp import web

from bot import ToolError
from bot.tools.web import browser, fetch_page_tool
from bot.tools.web.fetch_page import MAX_TEXT
from tests.tools.web.server import Names, Server, fetched, reader

URL = "http://page.test/"
HTML = "text/html; charset=utf-8"


async def test_a_page_is_told_with_its_address_its_title_and_its_text(public: Server) -> None:
    public.page("/", "<title>A  page</title><h1>Hi</h1><p>all", Content_Type=HTML)
    address, begin, title, *text, end = (await fetched(reader(public), URL)).split("\n")
    assert address == "Address: http://page.test/"
    assert title == "Title: A page"
    assert begin.startswith("[data ")
    assert text == ["Hi", "", "all"]
    assert end == begin.replace("[data", "[end of data")


async def test_a_request_says_little_and_carries_nothing(
    public: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    public.page("/", status=302, Location="/b", Set_Cookie="a=b")
    public.page("/b", "x", Content_Type="text/plain")
    assert "Address: http://page.test/b" in await fetched(reader(public), URL + "#part")
    for request in public.requests:
        assert request.headers["User-Agent"].startswith("Parley ")
        told = {"Host", "User-Agent", "Accept", "Accept-Encoding", "Connection"}
        assert set(request.headers) == told


async def test_redirects_are_followed_five_times(public: Server) -> None:
    for number in range(6):
        public.redirects(f"/{number}", f"/{number + 1}")
    public.page("/6", "there", Content_Type="text/plain")
    assert "there" in await fetched(reader(public), URL + "1")
    with pytest.raises(ToolError, match="more than 5 times"):
        await fetched(reader(public), URL + "0")


async def test_a_redirect_without_a_target_is_no_page(public: Server) -> None:
    public.page("/", "moved", status=302)
    with pytest.raises(ToolError, match="no page of text"):
        await fetched(reader(public), URL)


@pytest.mark.parametrize("status", [400, 404, 500])
async def test_an_error_is_told_by_its_status(public: Server, status: int) -> None:
    public.page("/", "no", status=status, Content_Type=HTML)
    with pytest.raises(ToolError, match=str(status)):
        await fetched(reader(public), URL)


@pytest.mark.parametrize(
    ("kind", "readable"),
    [
        ("text/html", True),
        ("TEXT/Plain; charset=utf-8", True),
        ("text/markdown", True),
        ("application/json", True),
        ("application/ld+json", True),
        ("application/rss+xml", True),
        ("application/xml", True),
        ("image/svg+xml", True),
        ("image/png", False),
        ("application/pdf", False),
        ("application/octet-stream", False),
        ("nonsense", False),
    ],
)
async def test_the_type_is_what_the_server_says_and_not_the_names_ending(
    public: Server, kind: str, readable: bool
) -> None:
    public.page("/a.html", "text", Content_Type=kind)
    if readable:
        assert "text" in await fetched(reader(public), URL + "a.html")
    else:
        with pytest.raises(ToolError, match="no page of text"):
            await fetched(reader(public), URL + "a.html")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("Grüße".encode(), "text/plain"),
        ("Grüße".encode("latin-1"), "text/plain; charset=iso-8859-1"),
        ("Grüße“".encode("cp1252"), "text/html; charset=latin1"),
        ("\ufeffGrüße".encode(), "text/plain; charset=latin-1"),
        ("Grüße".encode("utf-16"), "text/plain"),
        (b'<meta charset="iso-8859-15">' + "Grüße".encode("iso8859-15"), "text/html"),
        (
            b"<meta http-equiv=x content='text/html; charset=koi8-r'>"
            + "Grüße\u043f".replace("ü", "u").replace("ß", "ss").encode("koi8-r"),
            "text/html",
        ),
        ("Grüße".encode(), "text/plain; charset=rot13"),
        ("Grüße".encode(), "text/plain; charset=punycode"),
        ("Grüße".encode(), "text/plain; charset=utf-7"),
        ("Grüße".encode(), "text/plain; charset=nonsense"),
        ("Grüße".encode(), 'text/plain; charset="a\x00b"'.replace("\x00", "")),
    ],
)
async def test_text_is_read_in_the_character_set_it_has(
    public: Server, body: bytes, kind: str
) -> None:
    public.page("/", body, Content_Type=kind)
    told = await fetched(reader(public), URL)
    assert "Grüße" in told or "Grusse\u043f" in told


async def test_bytes_that_are_no_text_are_replaced(public: Server) -> None:
    public.page("/", b"a\xff\xfe\x00b", Content_Type="text/plain")
    assert "a\ufffd\ufffd" in await fetched(reader(public), URL)


async def test_a_long_page_is_cut_and_the_cut_is_told(public: Server) -> None:
    public.page("/", "x" * 3_000_000, Content_Type="text/plain")
    told = await fetched(reader(public), URL)
    assert MAX_TEXT < len(told) < MAX_TEXT + 300
    assert told.endswith("(The page is longer; this is its beginning.)")


async def test_a_page_without_an_end_is_left(public: Server) -> None:
    left = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x" * 65536)
        except ConnectionError:
            left.set()
            raise

    public.pages["/"] = endless
    assert "longer" in await fetched(reader(public), URL)
    await left.wait()


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
async def test_a_packed_page_is_unpacked(public: Server, encoding: str) -> None:
    public.page("/", gzip.compress(b"hello"), Content_Type="text/plain", Content_Encoding=encoding)
    assert "\nhello\n" in await fetched(reader(public), URL)


async def test_a_bomb_is_unpacked_up_to_the_limit_only(public: Server) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    bomb = b"".join(packer.compress(b"\0" * 1_000_000) for _ in range(100)) + packer.flush()
    assert len(bomb) < browser.MAX_BYTES
    public.page("/", bomb, Content_Type="text/plain", Content_Encoding="gzip")
    told = await fetched(reader(public), URL)
    assert "longer" in told
    assert len(told) < MAX_TEXT + 300


@pytest.mark.parametrize(
    ("encoding", "body", "told"),
    [
        ("br", b"x", "not asked for"),
        ("gzip", b"not packed", "damaged"),
        ("gzip, gzip", b"x", "not asked"),
    ],
)
async def test_a_packing_that_is_not_understood_is_told(
    public: Server, encoding: str, body: bytes, told: str
) -> None:
    public.page("/", body, Content_Type="text/plain", Content_Encoding=encoding)
    with pytest.raises(ToolError, match=told):
        await fetched(reader(public), URL)


async def test_a_server_that_never_answers_is_given_up(
    public: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = asyncio.Event()

    async def never(request: web.Request) -> web.StreamResponse:
        await over.wait()
        return web.Response()

    monkeypatch.setattr(browser, "SECONDS", 0.2)
    public.pages["/"] = never
    with pytest.raises(ToolError, match=r"within 0\.2 seconds"):
        await fetched(reader(public), URL)
    over.set()


async def test_what_is_no_web_server_is_told(public: Server) -> None:
    async def hello(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.test ESMTP\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(hello, "127.0.0.1", 0) as mail:
        public.port = mail.sockets[0].getsockname()[1]
        with pytest.raises(ToolError, match="as web servers do"):
            await fetched(reader(public), URL)
        with pytest.raises(ToolError, match="No public server"):
            await fetched(reader(public), "https://page.test/")


async def test_a_name_that_nobody_has_is_told() -> None:
    with pytest.raises(ToolError, match="No public server"):
        await fetched(fetch_page_tool(resolver=Names({})), "http://nobody.test/")


async def test_from_https_it_is_not_redirected_to_http() -> None:
    with pytest.raises(ToolError, match="from https to http"):
        browser._next(yarl.URL("https://page.test/"), {"Location": URL})
