"""Run by test_leased_rows.py in separate processes: claim all due emails, and print their ids.

The first argument is the name of the database. Each further step waits for a line of input.
"""

import sys

import django

django.setup()

from django.db import connection  # noqa: E402

from runtime.models import Mail  # noqa: E402


def main() -> None:
    connection.settings_dict["NAME"] = sys.argv[1]
    connection.ensure_connection()
    print("ready", flush=True)
    input()
    while mail := Mail.objects.claim():
        print(mail.pk, flush=True)
    print("done", flush=True)
    input()


main()
