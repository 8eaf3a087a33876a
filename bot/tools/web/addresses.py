"""Which addresses a page may be fetched from: public ones, and of those the web's two ports."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Allow = Callable[[Address, int], bool]
"""Whether a connection may be made to an address and a port."""

PORTS = frozenset({80, 443})

# What `is_global` does not exclude, or not in every version of Python.
_SPECIAL_V4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "100.64.0.0/10",  # carrier-grade NAT
            "168.63.129.16/32",  # Azure: the machine's host
            "192.0.0.0/24",
            "192.88.99.0/24",  # 6to4 relays
            "198.18.0.0/15",  # benchmarks
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",
        ),
    )
)
# Global unicast alone: all that embeds IPv4 or is local lies outside, but for these.
_GLOBAL_V6 = IPv6Network("2000::/3")
_SPECIAL_V6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # Teredo, ORCHID, ...
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "3ffe::/16",
            "3fff::/20",  # documentation
        ),
    )
)


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet."""
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in network for network in _SPECIAL_V4)
    plain = address.scope_id is None and address in _GLOBAL_V6 and address.is_global
    return plain and not any(address in network for network in _SPECIAL_V6)


def is_allowed(address: Address, port: int) -> bool:
    """Whether a page may be fetched from there."""
    return port in PORTS and is_public(address)


def address_of(host: str) -> Address | None:
    """Return the address that a host is written as, if it is one and no name."""
    try:
        return ip_address(host)
    except ValueError:
        return None
