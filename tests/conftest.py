import gc
from collections.abc import Generator, Iterator
from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, settings

from tests.coverage import unmeasured
from tests.ports import held_port
from tests.postgres import Server, serving

settings.register_profile(  # no test asserts a time
    "unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")


def pytest_collection_finish() -> None:
    """Let Python look for garbage only in what the tests make, and not in all that is imported."""
    gc.collect()
    gc.freeze()


after_all = ExitStack()
"""What ends after the last test, so that this is not too slow for the one test's time limit."""


def pytest_sessionfinish() -> None:
    after_all.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure nothing while a test runs that is left out of what is measured."""
    with unmeasured(item.path):
        return (yield)


@pytest.fixture(scope="session")
def postgres() -> Server:
    """A PostgreSQL server; on a busy machine it takes long to remove all its databases."""
    return after_all.enter_context(serving())


@pytest.fixture
def port() -> Iterator[int]:
    """A port for whoever the test has listen."""
    with held_port() as held:
        yield held
