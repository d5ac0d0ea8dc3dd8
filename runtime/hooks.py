"""Hooks: how a lower layer calls functions of the layers above without importing them.

Each hook is a setting with a list of dotted paths (config/hooks.py), and a `Protocol` with the
signature of its functions. The layer that calls the hook defines both:

    on_account_closed = Hook[AccountClosed]("ON_ACCOUNT_CLOSED")

    for handle in on_account_closed:
        handle(account=account, actor=actor)

The functions run inside the caller's transaction, and their exceptions reach the caller.
"""

from collections.abc import Iterator
from functools import cache
from typing import Generic, TypeVar

from django.conf import settings
from django.utils.module_loading import import_string

Function = TypeVar("Function")

# Some hooks are called in every request of the API.
_import_once = cache(import_string)


class Hook(Generic[Function]):
    def __init__(self, setting: str) -> None:
        self.setting = setting

    def __iter__(self) -> Iterator[Function]:
        """Iterate over the functions, in the order of the setting."""
        return map(self.load, self.paths)

    @property
    def paths(self) -> list[str]:
        paths: list[str] = getattr(settings, self.setting)
        return paths

    def load(self, path: str) -> Function:
        function: Function = _import_once(path)
        return function
