import gc
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from tests.coverage import unmeasured
from tests.postgres import Server, serving

settings.register_profile("unhurried", deadline=None)  # no test asserts a time
settings.load_profile("unhurried")


def pytest_collection_finish() -> None:
    """Let Python look for garbage only in what the tests make, and not in all that is imported."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure nothing while a test runs that is left out of what is measured."""
    with unmeasured(item.path.relative_to(item.config.rootpath)):
        return (yield)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server."""
    with serving() as server:
        yield server
