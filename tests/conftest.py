import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.ports import held_port
from tests.postgres import Server, serving

settings.register_profile("unhurried", deadline=None)  # no test asserts a time
settings.load_profile("unhurried")


def pytest_collection_finish() -> None:
    """Let Python look for garbage only in what the tests make, and not in all that is imported."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server."""
    with serving() as server:
        yield server


@pytest.fixture
def port() -> Iterator[int]:
    """A port for whoever the test has listen."""
    with held_port() as held:
        yield held
