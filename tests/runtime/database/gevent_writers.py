"""Run by test_sqlite.py in a separate process: greenlets of one web worker write concurrently.

Print how many seconds each of them took, and what was written, as JSON.
"""

from gevent import monkey

monkey.patch_all()

import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402

import django  # noqa: E402
import gevent  # noqa: E402

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402

from accounts.models import AuditEntry  # noqa: E402


def write_and_wait_in_transaction(number: int) -> float:
    """Switch greenlets inside the transaction, as waiting for a socket would."""
    started = time.monotonic()
    with transaction.atomic():
        AuditEntry.objects.create(action=f"inside.{number}")
        gevent.sleep(0.05)
    connection.close()
    return time.monotonic() - started


def write(number: int) -> float:
    started = time.monotonic()
    AuditEntry.objects.create(action=f"alone.{number}")
    connection.close()
    return time.monotonic() - started


def fail_in_transaction(number: int) -> float:
    started = time.monotonic()
    try:
        with transaction.atomic():
            AuditEntry.objects.create(action=f"failed.{number}")
            gevent.sleep(0.01)
            raise ValueError
    except ValueError:
        connection.close()
    return time.monotonic() - started


def main() -> None:
    call_command("migrate", verbosity=0)
    connection.close()
    functions = (write_and_wait_in_transaction, write, fail_in_transaction)
    greenlets = [gevent.spawn(run, number) for number in range(10) for run in functions]
    gevent.joinall(greenlets, raise_error=True)
    written = sorted(AuditEntry.objects.values_list("action", flat=True))
    json.dump(
        {"seconds": [greenlet.value for greenlet in greenlets], "written": written}, sys.stdout
    )


main()
