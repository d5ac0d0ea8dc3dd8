"""Call functions of the layers above without importing them: docs/design/hooks.md.

Their exceptions reach the caller.
"""

from collections.abc import Iterator
from functools import cache
from typing import Generic, TypeVar

from django.conf import settings
from django.utils.module_loading import import_string

Function = TypeVar("Function")

_import_once = cache(import_string)


class Hook(Generic[Function]):
    def __init__(self, setting: str) -> None:
        self.setting = setting

    def __iter__(self) -> Iterator[Function]:
        return map(self.load, self.paths)

    @property
    def paths(self) -> list[str]:
        paths: list[str] = getattr(settings, self.setting)
        return paths

    def load(self, path: str) -> Function:
        function: Function = _import_once(path)
        return function
