import pytest

from bot.frontend.ids import (
    Place,
    PlaceKind,
    message_of,
    place_of,
    source_id_of,
    user_id_of,
    user_of,
)


@pytest.mark.parametrize("kind", PlaceKind)
def test_a_place_and_its_session_name_each_other(kind: PlaceKind) -> None:
    place = Place(kind, 1234)
    assert place.session_id == f"{kind.value}-1234"
    assert place_of(place.session_id) == place


@pytest.mark.parametrize(
    "session_id", ["", "thread-", "thread-0", "thread-12x", "room-12", "user-12", "dm-12\n"]
)
def test_other_sessions_have_no_place(session_id: str) -> None:
    assert place_of(session_id) is None


def test_users_and_messages_are_named_both_ways() -> None:
    assert user_of(user_id_of(5)) == 5
    assert message_of(source_id_of(6)) == 6
    assert user_of("alice") is None
    assert message_of(None) is None
