from collections.abc import Iterator

import pytest

from tests.postgres import Server, serving


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server."""
    with serving() as server:
        yield server
