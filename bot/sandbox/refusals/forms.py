"""Checking a request body field by field, and Discord's nested list of what is wrong."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar

from bot.sandbox.refusals.errors import Json, Refusal

Path = tuple[str | int, ...]
T = TypeVar("T")

WRONG_TYPE = {
    str: ("STRING_TYPE_CONVERT", "Could not interpret value as string."),
    int: ("NUMBER_TYPE_COERCE", "Value is not an integer."),
    bool: ("BOOLEAN_TYPE_CONVERT", "Must be either true or false."),
    list: ("LIST_TYPE_CONVERT", "Only iterables may be used in a ListType."),
    dict: ("DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType."),
}


class Form:
    """One JSON object of a body; children share the list of mistakes."""

    def __init__(self, body: Json, path: Path = (), mistakes: Json | None = None) -> None:
        self.body, self.path = body, path
        self.mistakes: Json = {} if mistakes is None else mistakes

    def wrong(self, code: str, message: str, *at: str | int) -> None:
        """Note a mistake in the field at this path below the object."""
        node = self.mistakes
        for step in (*self.path, *at):
            node = node.setdefault(str(step), {})
        node.setdefault("_errors", []).append({"code": code, "message": message})

    def finish(self) -> None:
        """Refuse the body when a mistake was noted."""
        if self.mistakes:
            raise Refusal.INVALID_FORM.error(self.mistakes)

    def value(self, key: str, kind: type[T], *, required: bool = False) -> T | None:
        """Return a field of this type; None when it is absent, null or wrong."""
        value = self.body.get(key)
        if value is None:
            if required:
                self.wrong("BASE_TYPE_REQUIRED", "This field is required", key)
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.wrong(*WRONG_TYPE[kind], key)
            return None
        return value

    def text(
        self, key: str, least: int = 0, most: int | None = None, *, required: bool = False
    ) -> str | None:
        """Return a string whose length, in code points, lies between the bounds."""
        value = self.value(key, str, required=required)
        if value is not None:
            self.length(value, least, most, key)
        return value

    def length(self, value: str, least: int, most: int | None, *at: str | int) -> None:
        """Note a mistake when the text is too long or too short."""
        if most is not None and len(value) > most:
            self.wrong("BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.", *at)
        if len(value) < least:
            self.wrong("BASE_TYPE_MIN_LENGTH", f"Must be {least} or more in length.", *at)

    def integer(self, key: str, least: int, most: int, *, required: bool = False) -> int | None:
        """Return an integer between the bounds."""
        given = self.body.get(key)
        if isinstance(given, float) and given.is_integer():  # as discord.py writes hours: 24.0
            self.body[key] = int(given)
        value = self.value(key, int, required=required)
        if value is not None and not least <= value <= most:
            self.wrong(
                "NUMBER_TYPE_MAX" if value > most else "NUMBER_TYPE_MIN",
                f"int value should be between {least} and {most}.",
                key,
            )
        return value

    def choice(self, key: str, allowed: set[int], *, required: bool = False) -> int | None:
        """Return an integer that is one of those allowed."""
        value = self.value(key, int, required=required)
        if value is not None and value not in allowed:
            self.wrong("BASE_TYPE_CHOICES", f"Value must be one of {sorted(allowed)}.", key)
        return value

    def time(self, key: str, *, required: bool = False) -> datetime | None:
        """Return a moment, which travels as ISO 8601; one without an offset is in UTC."""
        text = self.value(key, str, required=required)
        if text is None:
            return None
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            self.wrong("DATE_TIME_TYPE_PARSE", f"Could not parse {text}. Should be ISO8601.", key)
            return None
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def snowflake(self, key: str, *, required: bool = False) -> int | None:
        """Return an id, which travels as a string of digits."""
        value = self.body.get(key)
        if value is None:
            if required:
                self.wrong("BASE_TYPE_REQUIRED", "This field is required", key)
            return None
        return self.as_snowflake(value, key)

    def as_snowflake(self, value: Any, *at: str | int) -> int | None:
        """Return the id in a value, noting a mistake when it is none."""
        if not isinstance(value, bool) and isinstance(value, int | str) and str(value).isdigit():
            return int(value)
        self.wrong("NUMBER_TYPE_COERCE", f'Value "{value}" is not snowflake.', *at)
        return None

    def snowflakes(self, key: str, most: int = 100) -> list[int] | None:
        """Return a list of ids."""
        values: list[Any] | None = self.value(key, list)
        if values is None:
            return None
        self.count(values, 0, most, key)
        found = [self.as_snowflake(value, key, place) for place, value in enumerate(values)]
        return [each for each in found if each is not None]

    def count(self, values: list[Any], least: int, most: int, *at: str | int) -> None:
        """Note a mistake when the list is too long or too short."""
        if not least <= len(values) <= most:
            text = f"Must be between {least} and {most} in length."
            self.wrong("BASE_TYPE_BAD_LENGTH", text, *at)

    def child(self, key: str) -> "Form | None":
        """Return the form of a nested object."""
        value: Json | None = self.value(key, dict)
        return None if value is None else Form(value, (*self.path, key), self.mistakes)

    def children(self, key: str, least: int = 0, most: int = 100) -> list["Form"] | None:
        """Return the forms of a list of objects; None when the list is absent."""
        values: list[Any] | None = self.value(key, list)
        if values is None:
            return None
        self.count(values, least, most, key)
        return list(self._forms(key, values))

    def _forms(self, key: str, values: list[Any]) -> Iterator["Form"]:
        for place, value in enumerate(values):
            if isinstance(value, dict):
                yield Form(value, (*self.path, key, place), self.mistakes)
            else:
                self.wrong(*WRONG_TYPE[dict], key, place)
