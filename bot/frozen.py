"""Frozen dataclasses, made in a fifth of the time.

The standard decorator compiles six methods of every class, which is half a millisecond of each of
some hundred at start. Here only `__init__` is compiled, and it sets the slots itself, which also
takes half the time of making an object. In all else the classes are dataclasses: for `replace`,
`fields`, `match`, `repr`, `==`, `hash` and `copy`, and for a type checker.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, slots: bool, kw_only: bool = False) -> Callable[[type], type]:
        """Return the decorator of a frozen dataclass with slots; it can have no `InitVar`.

        Raises:
            ValueError: for one that is not frozen, or has no slots.
        """
        if not (frozen and slots):
            raise ValueError("others are made by the standard decorator")

        def made(cls: type[T]) -> type[T]:
            cls.__doc__ = cls.__doc__ or ""  # else one is made, slowly, of the signature
            plain = dataclasses.dataclass(
                init=False, repr=False, eq=False, slots=True, kw_only=kw_only
            )
            return _completed(plain(cls))

        return made


T = TypeVar("T")


def _completed(cls: type[T]) -> type[T]:
    """Add the methods that the class has not written itself."""
    methods = {
        "__init__": _init(cls),
        "__repr__": _repr,
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _state,
        "__setstate__": _set_state,
        **_comparisons(cls),
    }
    for name, method in methods.items():
        if name not in cls.__dict__ or cls.__dict__[name] is None:  # no hash, beside an own `==`
            setattr(cls, name, method)
    return cls


def _init(cls: type) -> Callable[..., None]:
    """Return the one method that has to be compiled, for its parameters."""
    names: dict[str, Any] = {"absent": dataclasses.MISSING}
    by_place, by_name, lines = ["self"], ["*"], []
    for each in dataclasses.fields(cls):
        name, given = each.name, each.name
        if each.default_factory is not dataclasses.MISSING:
            names[f"make_{name}"] = each.default_factory
            given = f"make_{name}() if {name} is absent else {name}"
        if each.init:
            (by_name if each.kw_only else by_place).append(name + _default(each, names))
            names[f"put_{name}"] = getattr(cls, name).__set__
            lines.append(f"put_{name}(self, {given})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(by_place + (by_name if by_name[1:] else []))
    body = "\n    ".join(lines or ["pass"])
    exec(f"def __init__({parameters}):\n    {body}", names)  # noqa: S102 - names of fields
    made: Callable[..., None] = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _default(field: dataclasses.Field[Any], names: dict[str, Any]) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return "=absent"
    if field.default is dataclasses.MISSING:
        return ""
    names[f"default_{field.name}"] = field.default
    return f"=default_{field.name}"


def _comparisons(cls: type) -> dict[str, Callable[..., Any]]:
    compared = [each.name for each in dataclasses.fields(cls) if each.compare]
    values: Callable[[object], object] = attrgetter(*compared) if compared else type

    def equal(self: object, other: object) -> bool:
        same_kind = other.__class__ is self.__class__
        return values(self) == values(other) if same_kind else NotImplemented

    return {"__eq__": equal, "__hash__": lambda self: hash(values(self))}


def _repr(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
