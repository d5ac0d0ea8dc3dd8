"""What several commands share."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from pathlib import Path
from typing import Any, Callable

from emailvalidation._config import KEY_VARIABLE, ConfigurationError
from emailvalidation.cli.screen import Screen
from emailvalidation.client import Client

Run = Callable[[argparse.Namespace, Screen], None]


def add_command(
    commands: Any, name: str, about: str, run: Run, *, notes: str = "", has_json: bool = True
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about[0].lower() + about[1:].rstrip("."),
        description=about,
        epilog=notes,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    if has_json:
        parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--api-key-file",
        metavar="FILE",
        help=f"read the API key from this file instead of {KEY_VARIABLE}",
    )
    return parser


def open_client(options: argparse.Namespace, *, timeout: float = 30.0) -> Client:
    """Return a client. The key is never an argument, which other users of the machine could see."""
    key = None
    if options.api_key_file:
        try:
            key = Path(options.api_key_file).read_text().strip()
        except OSError as error:
            raise ConfigurationError(f"The file with the API key can't be read: {error}") from error
    elif not os.environ.get(KEY_VARIABLE) and sys.stdin.isatty() and sys.stderr.isatty():
        key = getpass.getpass("API key (svc_live_…): ").strip()
    return Client(key, timeout=timeout)


def confirm(question: str) -> bool:
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
