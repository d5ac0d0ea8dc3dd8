"""Run by test_hashers.py in a process of its own, patched as a web worker is.

Prints how often another greenlet had its turn while a password was hashed and verified.
"""

from gevent import monkey

monkey.patch_all()

import os  # noqa: E402

import django  # noqa: E402
import gevent  # noqa: E402

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from django.contrib.auth.hashers import check_password, make_password  # noqa: E402

turns = 0


def another_request() -> None:
    global turns  # noqa: PLW0603
    while True:
        gevent.sleep(0.002)
        turns += 1


gevent.spawn(another_request)
encoded = make_password("correct horse battery")
assert check_password("correct horse battery", encoded)
assert not check_password("wrong", encoded)
print(turns)
