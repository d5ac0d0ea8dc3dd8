"""Argon2 beside the web worker's loop.

A hash takes dozens of milliseconds of one core, on purpose. Under gevent it would stop every other
request of the worker for as long, so it runs in a thread: the hash does not hold Python's lock.
"""

from collections.abc import Callable
from functools import cache

from django.contrib.auth import hashers
from gevent import get_hub
from gevent.monkey import is_module_patched
from gevent.threadpool import ThreadPool

# Each hash takes 100 MB: a flood of sign-ins waits its turn instead of filling the memory.
AT_ONCE = 2


class Argon2PasswordHasher(hashers.Argon2PasswordHasher):
    def encode(self, password: str, salt: str) -> str:
        return str(_beside_the_loop(super().encode, password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        return bool(_beside_the_loop(super().verify, password, encoded))


def _beside_the_loop(work: Callable[..., str | bool], *arguments: str) -> str | bool:
    if not is_module_patched("threading"):
        return work(*arguments)
    result: str | bool = _threads(id(get_hub())).apply(work, arguments)
    return result


@cache
def _threads(hub: int) -> ThreadPool:
    """One pool for the worker's hub."""
    return ThreadPool(AT_ONCE)
