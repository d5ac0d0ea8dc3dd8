"""What an event's data looks like, for the documentation, the OpenAPI document and the tests."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from runtime.hooks import Hook

# A JSON Schema with an example.
Property = dict[str, Any]


@dataclass(frozen=True, eq=False)
class EventType:
    # Such as list.completed.
    name: str
    # Such as "List completed".
    title: str
    # When it is recorded, as a sentence.
    description: str
    data: Mapping[str, Property]
    # Whether an email reports it too, which accounts can turn off.
    is_emailed: bool = False
    # False for what the operator has turned off. Earlier events stay readable.
    is_offered: bool = True

    @property
    def example(self) -> dict[str, object]:
        return {name: field["examples"][0] for name, field in self.data.items()}


# The one table: config/hooks.py.
event_types = Hook[EventType]("EVENT_TYPES")


def offered_types() -> list[EventType]:
    return [event_type for event_type in event_types if event_type.is_offered]


@cache
def types_by_name() -> dict[str, EventType]:
    return {event_type.name: event_type for event_type in event_types}


def text(
    description: str, example: str | None, *, values: Iterable[str] = (), is_nullable: bool = False
) -> Property:
    kind = ["string", "null"] if is_nullable else "string"
    field: Property = {"type": kind, "description": description, "examples": [example]}
    if values:
        field["enum"] = list(values)
    return field


def integer(description: str, example: int) -> Property:
    return {"type": "integer", "description": description, "examples": [example]}


def time(description: str, example: str) -> Property:
    return {**text(description, example), "format": "date-time"}
