#!/usr/bin/env python
import os
import sys

if sys.argv[1:2] in (["run_lists"], ["run_webhooks"], ["run_probes"]):
    # Greenlets look up a list's domains in two thirds of the time that threads take, and end a
    # conversation with a slow server in time. This has to precede all other imports.
    from gevent import monkey

    monkey.patch_all()

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from config.server.environment import fail
from runtime.management.commands.make_secrets import Command


def main() -> None:
    # Only the user who runs this may read the database, emails and secrets.
    os.umask(0o077)
    if sys.argv[1:2] == ["make_secrets"]:
        # It prints settings to start with, so it mustn't load any.
        os.environ.pop("DJANGO_SETTINGS_MODULE", None)
        Command().run_from_argv(sys.argv)
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        # Import the settings here to report invalid values without a traceback.
        import config.settings  # noqa: F401
    except ImproperlyConfigured as error:
        # A process logs it, and a person reads it.
        if sys.argv[1:] and sys.argv[1].startswith("run_"):
            fail(str(error))
        sys.exit(str(error))
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
