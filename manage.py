#!/usr/bin/env python
import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # Only the user who runs this may read the database, emails and secrets.
    os.umask(0o077)
    try:
        # Import the settings here to report invalid values without a traceback.
        import config.settings  # noqa: F401
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
