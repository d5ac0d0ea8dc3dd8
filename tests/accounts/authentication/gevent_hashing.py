"""Script that test_passwords.py runs in a process patched by gevent, like a web worker.

It prints how often another greenlet ran while passwords were hashed.
"""

from gevent import monkey

monkey.patch_all()

import os  # noqa: E402

import django  # noqa: E402
import gevent  # noqa: E402

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from django.contrib.auth.hashers import check_password, make_password  # noqa: E402

SECRET = "correct horse battery"
ticks = 0


def handle_another_request() -> None:
    global ticks  # noqa: PLW0603
    while True:
        gevent.sleep(0.002)
        ticks += 1


gevent.spawn(handle_another_request)
encoded = make_password(SECRET)
assert check_password(SECRET, encoded)
assert not check_password("wrong", encoded)
print(ticks)
