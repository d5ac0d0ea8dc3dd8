from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Union

from emailvalidation.cli.options import add_command as add
from emailvalidation.cli.options import open_client
from emailvalidation.cli.screen import Screen
from emailvalidation.types import BatchResult, Result

_NOTES = """\
Without addresses, they are read from standard input, one per line, and results
appear as they arrive:

  emailvalidation validate < addresses.txt > results.txt

A definite verdict costs 1 credit. Unknown results and addresses at sandbox.test
are free.
"""


def add_command(commands: Any) -> None:
    parser = add(commands, "validate", "Validate addresses.", run, notes=_NOTES)
    parser.add_argument("addresses", nargs="*", metavar="ADDRESS")
    parser.add_argument("--check", choices=["mailbox"], help="also ask the mail server")


def run(options: argparse.Namespace, screen: Screen) -> None:
    with open_client(options, timeout=60) as client:
        results: Iterable[Union[Result, BatchResult]]
        if len(options.addresses) == 1:
            results = [client.validate(options.addresses[0], check=options.check)]
        else:
            addresses = options.addresses or _read_addresses(screen)
            results = client.validate_many(addresses, check=options.check)
        for result in results:
            if screen.as_json:
                screen.record(result.raw)
            else:
                _print(result, screen)


def _read_addresses(screen: Screen) -> Iterator[str]:
    if sys.stdin.isatty():
        screen.note("Type addresses, one per line. End with Ctrl-D.")
    for line in sys.stdin:
        if address := line.strip():
            yield address


def _print(result: Union[Result, BatchResult], screen: Screen) -> None:
    verdict = screen.color(f"{result.verdict:<13}", result.verdict)
    suggestion = f"  Did you mean {result.did_you_mean}?" if result.did_you_mean else ""
    print(f"{verdict}  {result.reason:<20}  {result.email}{suggestion}", flush=True)
