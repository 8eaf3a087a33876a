"""Nothing but public addresses is connected to, however the way there is written."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import ToolError
from bot.tools.web import fetch_page_tool
from bot.tools.web.addresses import is_allowed, is_public
from tests.tools.web.server import LOOPBACK, Names, Server, fetched, reader

URL_LETTERS = "".join(map(chr, range(33, 127)))
HAS_HOST = re.compile(r"http://[^/]+/[^ ]*$")
SPECIAL = [
    *("0.1.2.3", "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1"),
    *("192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255", "192.0.0.8"),
    *("192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1"),
    *("239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:10.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "2002:7f00:1::1"),
    *("2002:808:808::1", "2001:0:4136:e378:8000:63bf:80ff:fffe", "2001:db8::1", "3fff::1"),
    *("100::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "5f00::1"),
    "2606:4700::1111%eth0",
]

WRITTEN = [
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0.0.1./",
    "http://0/",
    "http://169.254.169.254/latest/meta-data/",
    "http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/",
    "http://127\u30020\u30020\u30021/",
    "http://\u2460\u2461\u2466.0.0.1/",
    "http://%31%32%37.0.0.1/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://\u24dbocalhost/",
    "http://router.localhost/",
    "http://intranet/",
    "http://page.test@127.0.0.1/",
    "http://page.test:80@127.0.0.1/",
    "http://:@page.test/",
    "http://127.0.0.1\\@page.test/",
    "http://page.test:8080/",
    "http://page.test:22/",
    "http://page.test:0/",
    "http://page.test:99999/",
    "ftp://page.test/",
    "file:///etc/passwd",
    "gopher://page.test/",
    "javascript:alert(1)",
    "//page.test/",
    "page.test",
    "http://",
    "http:///",
    "http://page.test/a b",
    "http://page.test/\r\nHost: other",
    " http://page.test/",
    "http://page\u200b.test/",
    "http://page.test/" + "x" * 2000,
    "",
]


@pytest.mark.parametrize("address", SPECIAL)
def test_special_addresses_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111"])
def test_others_are_and_only_on_the_ports_of_the_web(address: str) -> None:
    assert is_allowed(ip_address(address), 80)
    assert is_allowed(ip_address(address), 443)
    assert not is_allowed(ip_address(address), 22)


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_no_embedding_makes_an_address_public(number: int) -> None:
    inner = int(IPv4Address(number))
    for prefix in (0, 0xFFFF << 32, 0xFFFF << 48, 0x64FF9B << 96):
        assert not is_public(IPv6Address(prefix | inner))
    assert not is_public(IPv6Address(0x2002 << 112 | inner << 80 | 1))
    assert not is_public(IPv6Address(0x20010000 << 96 | inner))


@pytest.mark.parametrize("url", WRITTEN)
async def test_what_is_written_to_lead_inside_is_refused(public: Server, url: str) -> None:
    with pytest.raises(ToolError):
        await fetched(reader(public), url)
    assert public.requests == []


@pytest.mark.parametrize("address", SPECIAL)
async def test_a_name_of_a_special_address_is_refused(address: str) -> None:
    tool = fetch_page_tool(resolver=Names({"page.test": [([address], 80)]}))
    with pytest.raises(ToolError, match="No public server"):
        await fetched(tool, "http://page.test/")


async def test_a_name_that_leads_to_loopback_never_reaches_it(private: Server) -> None:
    tool = fetch_page_tool(resolver=Names({"page.test": [([LOOPBACK], private.port)]}))
    with pytest.raises(ToolError, match="No public server"):
        await fetched(tool, "http://page.test/")


async def test_a_private_address_behind_a_dead_public_one_is_not_reached(
    public: Server, private: Server
) -> None:
    tool = reader(public, ([LOOPBACK, "::1", "127.0.0.2"], private.port))
    with pytest.raises(ToolError, match="No public server"):
        await fetched(tool, "http://page.test/")


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_dns_that_changes_after_the_first_answer_is_refused(
    public: Server, private: Server, scheme: str
) -> None:
    public.redirects("/", f"{scheme}://page.test/again")
    tool = reader(public, ([LOOPBACK], public.port), ([LOOPBACK], private.port))
    with pytest.raises(ToolError, match="No public server"):
        await fetched(tool, "http://page.test/")
    assert len(public.requests) == 1


async def test_a_dns_that_changes_between_two_fetches_is_refused(
    public: Server, private: Server
) -> None:
    public.page("/", "hello", Content_Type="text/plain")
    tool = reader(public, ([LOOPBACK], public.port), ([LOOPBACK], private.port))
    assert "hello" in await fetched(tool, "http://page.test/")
    with pytest.raises(ToolError, match="No public server"):
        await fetched(tool, "http://page.test/")


@pytest.mark.parametrize("target", [each for each in WRITTEN if HAS_HOST.match(each)])
async def test_a_redirect_to_what_is_refused_is_refused(public: Server, target: str) -> None:
    public.page("/", status=302, Location=quote(target, safe=URL_LETTERS))
    with pytest.raises(ToolError):
        await fetched(reader(public), "http://page.test/")
    assert len(public.requests) == 1


async def test_a_redirect_to_a_name_that_leads_inside_is_refused(
    public: Server, private: Server
) -> None:
    public.redirects("/", "http://inside.test/")
    with pytest.raises(ToolError, match="No public server"):
        await fetched(reader(public, inside=private), "http://page.test/")
    assert len(public.requests) == 1


async def test_a_redirect_to_a_port_on_loopback_is_refused(public: Server, private: Server) -> None:
    public.redirects("/", f"http://{LOOPBACK}:{private.port}/")
    with pytest.raises(ToolError, match="redirects to another address"):
        await fetched(reader(public), "http://page.test/")


async def test_an_address_as_it_is_goes_through_the_same_check(private: Server) -> None:
    """Aiohttp asks no resolver for it; what is asked is where the socket is made."""
    tool = fetch_page_tool(allow=lambda address, port: False)
    with pytest.raises(ToolError, match="No public server"):
        await fetched(tool, "http://8.8.8.8/")
