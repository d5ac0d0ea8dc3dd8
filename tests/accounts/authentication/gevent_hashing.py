"""Script that test_hash_queue.py runs in a process patched by gevent, like a web worker.

It uses a web worker's queue for password hashes and prints its observations as JSON.
"""

from gevent import monkey

monkey.patch_all()

import fcntl  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
from pathlib import Path  # noqa: E402

import django  # noqa: E402
import gevent  # noqa: E402
import psutil  # noqa: E402

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.hashers import check_password, make_password  # noqa: E402

from accounts.authentication.passwords import hash_queue  # noqa: E402

SECRET = "correct horse battery"
ticks = 0


def handle_another_request() -> None:
    global ticks  # noqa: PLW0603
    while True:
        gevent.sleep(0.002)
        ticks += 1


def hash_for(*, stranger: bool) -> str:
    hash_queue.for_stranger.set(stranger)
    return make_password(SECRET)


def count_ticks_during_hashes() -> int:
    before = ticks
    for stranger in (True, False):
        assert check_password(SECRET, hash_for(stranger=stranger))
        hash_queue.for_stranger.set(stranger)
        assert not check_password("wrong", make_password(SECRET))
    return ticks - before


def order_while_another_hash_is_computed() -> list[str]:
    """Return in which order a stranger and a known browser finish during another hash."""
    finished: list[str] = []

    def sign_in(name: str, *, stranger: bool) -> None:
        hash_for(stranger=stranger)
        finished.append(name)

    lock_file = Path(settings.DATA_DIR) / "password-hashes.lock"
    with lock_file.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stranger = gevent.spawn(sign_in, "stranger", stranger=True)
        known = gevent.spawn(sign_in, "known browser", stranger=False)
        known.join()
        finished.append("other hash")
    stranger.join()
    return finished


def hash_process() -> psutil.Process:
    (process,) = psutil.Process().children()
    return process


def survives_a_killed_process() -> bool:
    hash_process().kill()
    return check_password(SECRET, hash_for(stranger=True))


gevent.spawn(handle_another_request)
observations = {
    "ticks": count_ticks_during_hashes(),
    "priority": hash_process().nice(),
    "own priority": psutil.Process().nice(),
    "order": order_while_another_hash_is_computed(),
    "survives": survives_a_killed_process(),
}
print(json.dumps(observations))
