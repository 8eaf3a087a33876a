"""Frozen dataclasses as JSON objects, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cached_property
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Codec:
    """How one type of value becomes JSON and comes back."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


class Form(Generic[T]):
    """How one frozen dataclass becomes a JSON object and comes back.

    A long log is decoded whole, so what decodes is compiled, when it is first used. It fills an
    object that is only then frozen, which takes a fraction of the time of an `__init__`.
    """

    def __init__(self, cls: type[T], **codecs: Codec | Form[Any]) -> None:
        self._cls = cls
        self._codecs = codecs

    @cached_property
    def _fields(self) -> tuple[Field[Any], ...]:
        return fields(self._cls)  # type: ignore[arg-type]  # every form is of a dataclass

    @cached_property
    def _encoders(self) -> list[tuple[str, Callable[[Any], Any] | None, Any]]:
        return [(f.name, _encoder(self._codecs.get(f.name)), _default(f)) for f in self._fields]

    @cached_property
    def _make(self) -> Callable[[Mapping[str, Any]], T]:
        return _compiled(self._cls, self._fields, self._codecs)

    def encode(self, value: T) -> dict[str, Any]:
        """Return the value as a JSON object, without what equals its default."""
        data = {}
        for name, convert, default in self._encoders:
            field = getattr(value, name)
            if field != default:
                data[name] = field if convert is None or field is None else convert(field)
        return data

    def decode(self, data: Mapping[str, Any]) -> T:
        """Return the value of a JSON object; fields that it does not know are passed over.

        Raises:
            KeyError: if one is missing that it needs.
        """
        return self._make(data)


def _encoder(codec: Codec | Form[Any] | None) -> Callable[[Any], Any] | None:
    return None if codec is None else codec.encode


def _default(field: Field[Any]) -> Any:
    return {} if field.default_factory is dict else field.default


def _compiled(
    cls: type[T], made: tuple[Field[Any], ...], codecs: Mapping[str, Codec | Form[Any]]
) -> Callable[[Mapping[str, Any]], T]:
    """Return a function of a JSON object."""
    names: dict[str, Any] = {"new": object.__new__, "thawed": _thawed(cls), "frozen": cls}
    names["absent"] = MISSING
    lines = ["value, get = new(thawed), data.get"]
    for each in made:
        decode = getattr(codecs.get(each.name), "decode", None)
        names |= {f"default_{each.name}": _default(each), f"read_{each.name}": decode}
        lines.append(f"value.{each.name} = {_reading(each, is_coded=decode is not None)}")
    body = "\n    ".join([*lines, "value.__class__ = frozen", "return value"])
    exec(f"def make(data):\n    {body}", names)  # noqa: S102 - names of fields
    make: Callable[[Mapping[str, Any]], T] = names["make"]
    return make


def _thawed(cls: type[T]) -> type[T]:
    """Return a class whose objects can be changed, and then become those of a frozen one."""
    changing = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    return type(cls.__name__, cls.__bases__, {"__slots__": vars(cls)["__slots__"], **changing})


def _reading(field: Field[Any], *, is_coded: bool) -> str:
    """Return the expression of a field's value in `data`."""
    name, default = field.name, _default(field)
    if default is MISSING:
        found = f"data[{name!r}]"
        return f"x if (x := {found}) is None else read_{name}(x)" if is_coded else found
    if not is_coded:
        return f"get({name!r}, default_{name})"
    empty = "{}" if default == {} else f"default_{name}"
    found = f"(x := get({name!r}, absent))"
    return f"{empty} if {found} is absent else x if x is None else read_{name}(x)"
