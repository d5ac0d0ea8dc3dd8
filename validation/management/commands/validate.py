import time
from argparse import ArgumentParser
from typing import Any

import orjson
from django.core.management.base import BaseCommand

from accounts.engine import engine


class Command(BaseCommand):
    help = "Asks the engine about addresses: one result a line as JSON. Costs nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("addresses", nargs="+", metavar="ADDRESS")

    def run_from_argv(self, argv: list[str]) -> None:
        """An address may begin with a hyphen, and is no option."""
        for place, argument in enumerate(argv):
            if argument.startswith("-") and "@" in argument and "--" not in argv:
                argv = [*argv[:place], "--", *argv[place:]]
        super().run_from_argv(argv)

    def handle(self, *, addresses: list[str], **_: Any) -> None:
        for address in addresses:
            started = time.perf_counter()
            finding = engine().check(address)
            duration_ms = round((time.perf_counter() - started) * 1000)
            document = {
                **finding.document(),
                "duration_ms": duration_ms,
                "dns_cached": finding.dns_cached,
            }
            # What the terminal's encoding could not read of an argument stands in it as surrogates.
            document["email"] = address.encode("utf-8", "replace").decode()
            self.stdout.write(orjson.dumps(document).decode())
