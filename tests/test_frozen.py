from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, field, fields, replace

import pytest

from bot.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    name: str
    secret: str = field(default="", repr=False)
    tags: list[str] = field(default_factory=list, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aged(Named):
    """Somebody whose age is known."""

    age: int = 0


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0
    size: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", (self.x**2 + self.y**2) ** 0.5)


@dataclass(frozen=True, slots=True)
class Secret:
    value: str

    def __repr__(self) -> str:
        return "Secret(...)"


@dataclass(frozen=True, slots=True)
class Caseless:
    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Caseless) and self.text.lower() == other.text.lower()


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


def test_fields_are_given_by_place_or_by_name_as_the_class_says() -> None:
    assert Point(3, 4).size == 5
    with pytest.raises(TypeError, match=r"Named\.__init__\(\) takes 1 positional argument"):
        Named("Ann")  # type: ignore[call-arg]


def test_what_is_left_out_is_named() -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 .* argument: 'x'"):
        Point()  # type: ignore[call-arg]


def test_each_object_has_a_default_of_its_own() -> None:
    Named(name="Ann").tags.append("new")
    assert Named(name="Bob").tags == []


def test_nothing_can_be_set_or_deleted() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.z = 2  # type: ignore[attr-defined]


def test_objects_are_equal_by_their_fields_and_their_class() -> None:
    assert Named(name="Ann", tags=["a"]) == Named(name="Ann")
    assert Named(name="Ann") != Named(name="Bob")
    assert Named(name="Ann") != Aged(name="Ann")
    assert Nothing() == Nothing()


def test_equal_objects_have_one_hash() -> None:
    assert {Point(1, 2), Point(1, 2), Point(2, 1)} == {Point(1, 2), Point(2, 1)}
    assert len({Nothing(), Nothing()}) == 1


def test_a_method_that_the_class_wrote_itself_stays() -> None:
    assert repr(Secret("x")) == "Secret(...)"
    assert Caseless("A") == Caseless("a")
    assert hash(Caseless("A")) != hash(Caseless("a"))


def test_what_is_not_to_be_told_is_not_in_the_text() -> None:
    assert repr(Aged(name="Ann", secret="s", age=7)) == "Aged(name='Ann', tags=[], age=7)"
    assert repr(Nothing()) == "Nothing()"


def test_it_is_a_dataclass_for_what_asks() -> None:
    aged = Aged(name="Ann", age=7)
    assert [each.name for each in fields(aged)] == ["name", "secret", "tags", "age"]
    assert replace(aged, age=8) == Aged(name="Ann", age=8)
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_copies_are_equal() -> None:
    point = Point(3, 4)
    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point  # noqa: S301
    assert copy.deepcopy(point).size == 5


def test_one_that_is_not_frozen_is_refused() -> None:
    with pytest.raises(ValueError, match="the standard decorator"):
        dataclass(frozen=False, slots=True)
