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

    A long log is decoded whole, so what decodes is compiled, when it is first used. It sets
    the slots itself, which takes half the time of an `__init__`.
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
    def _make(self) -> Callable[..., T]:
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
            TypeError: if one is missing that it needs.
        """
        try:
            return self._make(**data)
        except TypeError:
            names = (each.name for each in self._fields)
            known = {name: data[name] for name in names if name in data}
            return self._make(**known)


def _encoder(codec: Codec | Form[Any] | None) -> Callable[[Any], Any] | None:
    return None if codec is None else codec.encode


def _default(field: Field[Any]) -> Any:
    return {} if field.default_factory is dict else field.default


def _compiled(
    cls: type[T], made: tuple[Field[Any], ...], codecs: Mapping[str, Codec | Form[Any]]
) -> Callable[..., T]:
    """Return a function of a value's fields, as they are in JSON, beside an object's `kind`."""
    names: dict[str, Any] = {"new": object.__new__, "cls": cls, "absent": MISSING}
    parameters, lines = ["kind=None"], ["value = new(cls)"]
    for each in made:
        name, default = each.name, _default(each)
        names[f"put_{name}"] = getattr(cls, name).__set__
        names[f"default_{name}"] = default
        read = name
        if (codec := codecs.get(name)) is not None:
            names[f"read_{name}"] = codec.decode
            read = f"{name} if {name} is None else read_{name}({name})"
        if default is MISSING:
            parameters.append(name)
        else:
            parameters.append(f"{name}=absent")
            empty = "{}" if default == {} else f"default_{name}"
            read = f"{empty} if {name} is absent else {read}"
        lines.append(f"put_{name}(value, {read})")
    body = "\n    ".join([*lines, "return value"])
    exec(f"def make(*, {', '.join(parameters)}):\n    {body}", names)  # noqa: S102 - names of fields
    make: Callable[..., T] = names["make"]
    return make
