"""Each function of the hooks table has the signature of its hook, and the docs list the same."""

import inspect
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

import accounts.engine
import accounts.events.types
import accounts.hooks
import accounts.staff.hooks
import apikeys.hooks
import apikeys.rest.mcp.tools
import config.hooks
import reference.status
import runtime.jobs.daily
import runtime.jobs.queue_metrics
import runtime.jobs.rounds
import runtime.mail.attachments
import validation.hooks
from accounts.events import EventType
from apikeys.rest.mcp.tools import Tool
from runtime.hooks import Hook

MODULES = (
    *(accounts.engine, accounts.events.types, accounts.hooks, accounts.staff.hooks),
    *(apikeys.hooks, runtime.jobs.daily, runtime.jobs.queue_metrics, runtime.jobs.rounds),
    *(apikeys.rest.mcp.tools, runtime.mail.attachments, validation.hooks),
    reference.status,
)
HOOKS: dict[str, Hook[Any]] = {
    value.setting: value
    for module in MODULES
    for value in vars(module).values()
    if isinstance(value, Hook)
}
TABLE = {name: paths for name, paths in vars(config.hooks).items() if name.isupper()}
# They list no functions.
VALUES = {"EVENT_TYPES": EventType, "MCP_TOOLS": Tool}
FUNCTIONS = [(name, path) for name, paths in TABLE.items() for path in paths if name not in VALUES]
ROW = re.compile(r"^\| (`[^|]*) \| ([^|]*)\|", re.MULTILINE)
DOCUMENT = Path(__file__).parents[2] / "docs/design/hooks.md"


def protocol_of(hook: Hook[Any]) -> type:
    """Return the Protocol in `Hook[Protocol]("NAME")`."""
    (protocol,) = get_args(vars(hook)["__orig_class__"])
    assert isinstance(protocol, type)
    return protocol


def signature_of(hook: Hook[Any]) -> inspect.Signature:
    """Return the signature of the hook's functions, without `self`."""
    call = inspect.signature(protocol_of(hook).__call__)
    return call.replace(parameters=list(call.parameters.values())[1:])


def outer_parameters(function: Callable[..., Any]) -> list[str]:
    """Return the parameters that decorators add, as `require_staff_permissions` adds `user`."""
    if not hasattr(function, "__wrapped__"):
        return []
    parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


def accepts(expected: object, actual: object) -> bool:
    """Return whether a function that returns `actual` may be used where `expected` is."""
    is_union = get_origin(expected) in (Union, UnionType)
    return actual == expected or (is_union and actual in get_args(expected))


def test_every_hook_is_in_the_table() -> None:
    assert HOOKS.keys() == TABLE.keys()


@pytest.mark.parametrize(("name", "path"), FUNCTIONS, ids=[path for _, path in FUNCTIONS])
def test_function_has_the_signature_of_its_hook(name: str, path: str) -> None:
    hook = HOOKS[name]
    function, expected = hook.load(path), signature_of(hook)
    added = outer_parameters(function)
    assert [*added, *inspect.signature(function).parameters] == list(expected.parameters)
    inspect.signature(function).bind(**dict.fromkeys(expected.parameters.keys() - {*added}))
    # Decorators keep the function's own hints.
    hints = get_type_hints(inspect.unwrap(function))
    types = get_type_hints(protocol_of(hook).__call__)
    assert accepts(types.pop("return"), hints.pop("return"))
    assert hints == {parameter: types[parameter] for parameter in types.keys() - {*added}}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_of_their_type_and_have_distinct_names(name: str) -> None:
    values = list(HOOKS[name])
    assert all(isinstance(value, VALUES[name]) for value in values)
    assert len({value.name for value in values}) == len(values)


def test_staff_domains_have_one_source() -> None:
    assert len(TABLE["STAFF_DOMAINS"]) == 1


def test_docs_list_each_hook_with_its_arguments() -> None:
    documented = {
        name: re.findall(r"\w+", arguments)
        for names, arguments in ROW.findall(DOCUMENT.read_text())
        for name in re.findall(r"`(\w+)`", names)
    }
    functions = {name: hook for name, hook in HOOKS.items() if name not in VALUES}
    assert documented == {
        name: list(signature_of(hook).parameters) for name, hook in functions.items()
    }


def test_functions_run_in_the_order_of_the_setting(settings: Any) -> None:
    settings.ON_EVERY_DAY = [f"{__name__}.first", f"{__name__}.second"]
    assert [job() for job in Hook[Callable[[], str]]("ON_EVERY_DAY")] == ["first", "second"]


first, second = partial(str, "first"), partial(str, "second")
