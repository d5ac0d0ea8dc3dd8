"""Fields that parse requests and describe requests and responses.

Unlike REST framework's, they don't convert: "5" or 5.0 to 5, 1 to true.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from rest_framework import serializers

# int() is slow for long texts.
_MAX_DIGITS = 16
_FLAGS = {"true": True, "false": False}


class InvalidValue(Exception):
    """The rest of a sentence that starts with the field's name."""

    def __init__(
        self, problem: str, *, place: str = "", details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        # Follows the field's name, as `[3]` does.
        self.place = place
        self.details = details or {}


class Field(serializers.Field[Any, Any, Any, Any]):
    def __init__(
        self, help_text: str = "", *, example: tuple[str, object] | None = None, **options: Any
    ) -> None:
        super().__init__(help_text=help_text, **options)
        # Title and value, for query parameters.
        self.example = example

    def parse_text(self, text: str) -> Any:
        return self.to_internal_value(text)

    def to_representation(self, value: Any) -> Any:
        """Return null for a model's empty text, where null is allowed."""
        return None if value == "" and self.allow_null else value


class String(Field, serializers.CharField):
    def __init__(self, help_text: str = "", *, check_length: bool = True, **options: Any) -> None:
        super().__init__(help_text, **options)
        # False: another module checks it.
        self.check_length = check_length

    def to_internal_value(self, data: object) -> str:
        low, high = self.min_length or 0, self.max_length if self.check_length else None
        if isinstance(data, str) and (high is None or low <= len(data) <= high):
            return data
        limits = "" if high is None else f" of {low} to {high} characters"
        raise InvalidValue(f"must be a string{limits}.")


class Integer(Field, serializers.IntegerField):
    def to_internal_value(self, data: object) -> int:
        return self._check(data, ", or null" if self.allow_null else "")

    def parse_text(self, text: str) -> int:
        is_number = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
        return self._check(int(text) if is_number else None, "")

    def _check(self, data: object, or_null: str) -> int:
        low, high = self.min_value or 0, self.max_value or 0
        # True is an instance of int.
        if type(data) is int and low <= data <= high:
            return data
        raise InvalidValue(f"must be a number from {low} to {high}{or_null}.")


class Count(Integer):
    def __init__(self, help_text: str = "", **options: Any) -> None:
        super().__init__(help_text, min_value=0, **options)


class Boolean(Field, serializers.BooleanField):
    def to_internal_value(self, data: object) -> bool:
        if isinstance(data, bool):
            return data
        raise InvalidValue(f"must be true{', false or null' if self.allow_null else ' or false'}.")

    def parse_text(self, text: str) -> bool:
        if text in _FLAGS:
            return _FLAGS[text]
        raise InvalidValue("must be one of true, false.")


class Choice(Field, serializers.ChoiceField):
    def __init__(self, help_text: str, choices: Iterable[str], **options: Any) -> None:
        super().__init__(help_text, choices=[str(choice) for choice in choices], **options)

    def to_internal_value(self, data: object) -> str:
        if isinstance(data, str) and data in self.choices:
            return data
        raise InvalidValue(f"must be one of {', '.join(self.choices)}.")


class Strings(Field, serializers.ListField):
    child = String()

    def to_internal_value(self, data: object) -> list[str]:
        low, high = self.min_length or 0, self.max_length
        if not isinstance(data, list) or (high is not None and not low <= len(data) <= high):
            limits = "" if high is None else f"{low} to {high} "
            details = {} if high is None else {"max": high}
            raise InvalidValue(f"must be an array of {limits}strings.", details=details)
        for index, value in enumerate(data):
            try:
                self.child.to_internal_value(value)
            except InvalidValue as error:
                raise InvalidValue(error.problem, place=f"[{index}]") from None
        return data


class StringMap(Field, serializers.DictField):
    child = String()

    def to_internal_value(self, data: object) -> dict[str, str]:
        if isinstance(data, dict) and all(isinstance(value, str) for value in data.values()):
            return data
        raise InvalidValue("must be an object whose values are strings.")


# In responses only.


class Object(Field, serializers.DictField):
    pass


class Share(Field, serializers.FloatField):
    def __init__(self, help_text: str = "", **options: Any) -> None:
        super().__init__(help_text, min_value=0, max_value=1, **options)


class URL(Field, serializers.URLField):
    pass


class Date(Field, serializers.DateField):
    pass


class DateTime(Field, serializers.DateTimeField):
    pass
