#!/usr/bin/env python
import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # Database, mails and secrets are for the user who runs this alone.
    os.umask(0o077)
    try:
        # Read here, so that a wrong value ends in a sentence instead of a traceback.
        import config.settings  # noqa: F401
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
