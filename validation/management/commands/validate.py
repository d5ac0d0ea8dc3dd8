import time
from argparse import ArgumentParser

import orjson

from accounts.engine import get_engine
from runtime.management.base import ProductCommand


class Command(ProductCommand):
    help = (
        "Validates addresses with the engine and prints one JSON result per line. Free of charge."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("addresses", nargs="+", metavar="ADDRESS")

    def run_from_argv(self, argv: list[str]) -> None:
        """Treat addresses that start with a hyphen as arguments, not as options."""
        for index, argument in enumerate(argv):
            if argument.startswith("-") and "@" in argument and "--" not in argv:
                argv = [*argv[:index], "--", *argv[index:]]
        super().run_from_argv(argv)

    def handle(self, *, addresses: list[str], **_: object) -> None:
        for address in addresses:
            started = time.perf_counter()
            finding = get_engine().check(address)
            duration_ms = round((time.perf_counter() - started) * 1000)
            document = {
                **finding.document(),
                "duration_ms": duration_ms,
                "dns_cached": finding.dns_cached,
            }
            # Bytes of an argument that the terminal's encoding can't decode become surrogates.
            document["email"] = address.encode("utf-8", "replace").decode()
            self.stdout.write(orjson.dumps(document).decode())
