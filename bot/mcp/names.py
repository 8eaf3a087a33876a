"""What the model calls the tools of servers.

A name is a pure function of the tool, of the servers that the file names and of what is taken: not
of which servers are up. So it means the same tool after a restart, which approvals rely on.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence

LONGEST = 64
"""Characters that model services take."""
_LONGEST_PREFIX = 32
_ODD = re.compile(r"[^a-zA-Z0-9_-]")


def prefixes(servers: Sequence[str]) -> dict[str, str]:
    """Return how the names of each server's tools begin, no two alike."""
    clean = {server: _ODD.sub("_", server)[:_LONGEST_PREFIX] for server in servers}
    plain = list(clean.values())
    return {
        server: prefix if plain.count(prefix) == 1 else _marked(prefix, server)
        for server, prefix in clean.items()
    }


def tool_name(server: str, tool: str, prefixes: dict[str, str], taken: Collection[str] = ()) -> str:
    """Return the name of a server's tool, `{server}_{tool}` wherever that is clear.

    Where it would be too long, has odd characters, is taken, or might be a tool of a server whose
    own name begins alike, a hash of both names ends it.
    """
    prefix = prefixes[server]
    name = f"{prefix}_{_ODD.sub('_', tool)}"
    is_clear = (
        name == f"{prefix}_{tool}"
        and len(name) <= LONGEST
        and name not in taken
        and max((p for p in prefixes.values() if name.startswith(f"{p}_")), key=len) == prefix
    )
    return name if is_clear else _marked(name, server, tool)


def _marked(name: str, *parts: str) -> str:
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: LONGEST - 9]}_{digest}"
