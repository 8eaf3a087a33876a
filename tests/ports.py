"""Ports on loopback for those who listen later, or again."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_port() -> Iterator[int]:
    """Hold a port: others may listen at it meanwhile, but nobody else is given it.

    Bound and not listening it refuses connections, as one that nobody has.
    """
    with bound(0) as holding:
        yield int(holding.getsockname()[1])


def bound(port: int) -> socket.socket:
    """Return a socket at a port that may be held."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("127.0.0.1", port))
    return made
