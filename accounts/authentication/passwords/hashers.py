"""Hash passwords with Argon2 without blocking a web worker's event loop."""

from collections.abc import Callable

from django.contrib.auth import hashers
from gevent import get_hub
from gevent.monkey import is_module_patched


class Argon2PasswordHasher(hashers.Argon2PasswordHasher):
    """Use the minimum of OWASP's Password Storage Cheat Sheet.

    With Django's own parameters, a few strangers could occupy a machine.
    """

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        return str(_run_in_thread(super().encode, password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        return bool(_run_in_thread(super().verify, password, encoded))


def _run_in_thread(function: Callable[[str, str], object], first: str, second: str) -> object:
    """Run the function in a native thread if this is a web worker. Argon2 releases the GIL."""
    if not is_module_patched("threading"):
        return function(first, second)
    return get_hub().threadpool.apply(function, (first, second))
