"""Run management commands of a product, each in a fork of one process that has imported it.

Importing the product takes a second of CPU, most commands much less.
"""

import os

from tests.servers.programs import ForkingProcess, wait_for_arguments


class Commands(ForkingProcess):
    """Management commands with one environment, until it is closed."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = dict(environment)
        super().__init__("tests.servers.commands", environment)


if __name__ == "__main__":
    import django
    from django.core.management import execute_from_command_line
    from django.urls import get_resolver

    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    # As in manage.py: other users may not read what a command writes.
    os.umask(0o077)
    django.setup()
    # The checks before a command import all views.
    _ = get_resolver().url_patterns
    if arguments := wait_for_arguments():
        execute_from_command_line(["manage.py", *map(str, arguments)])
