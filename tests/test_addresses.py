"""Addresses of databases, and what is shown of them."""

import pytest

from bot.addresses import is_well_written, shown


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("postgresql://user:s3cret@host/db", "host/db"),
        ("postgres://user:s3cret@host:5432/db", "host:5432/db"),
        ("postgresql://user:s%40c%2Fret%25@host/db", "host/db"),
        ("postgresql://user:a:b,c!$&*@host/db", "host/db"),
        ("postgresql://host", "host"),
        ("postgresql:///db?host=/run/postgresql&password=s3cret", "/db"),
        ("postgresql://user:s3cret@one:1,two:2/db?target_session_attrs=any", "one:1,two:2/db"),
        ("postgresql://user:s3cret@[::1]:5432/db", "[::1]:5432/db"),
        ("postgresql://user@%2Frun%2Fpostgresql/db", "%2Frun%2Fpostgresql/db"),
    ],
)
def test_a_well_written_address_is_shown_without_who_and_password(address: str, seen: str) -> None:
    assert is_well_written(address)
    assert shown(address) == f"postgresql://{seen}"


BADLY_WRITTEN = [
    "postgresql://postgres:p/w#x@127.0.0.1/db",
    "postgresql://postgres:1/w@127.0.0.1/db",
    "postgresql://postgres:p@w@127.0.0.1/db",
    "postgresql://postgres:p@w/x@127.0.0.1/db",
    "postgresql://postgres:p?w@127.0.0.1/db",
    "postgresql://postgres:p#w@127.0.0.1/db",
    "postgresql://postgres:p%w@127.0.0.1/db",
    "postgresql://postgres:p w@127.0.0.1/db",
    "postgresql://postgres:p[w]@127.0.0.1/db",
    "postgresql://127.0.0.1/db?user=postgres&password=p@w",
    "postgresql:/postgres:pw@127.0.0.1/db",
    "postgresql//postgres:pw@127.0.0.1/db",
    "mysql://postgres:pw@127.0.0.1/db",
    "host=127.0.0.1 password=pw dbname=db",
]


@pytest.mark.parametrize("address", BADLY_WRITTEN)
def test_nothing_is_shown_of_an_address_that_can_be_read_in_two_ways(address: str) -> None:
    assert not is_well_written(address)
    assert shown(address) == "PostgreSQL"
