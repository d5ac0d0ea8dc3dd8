from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Optional

from emailvalidation.cli.options import add_command as add
from emailvalidation.cli.options import confirm, open_client
from emailvalidation.cli.screen import Screen
from emailvalidation.client import Client
from emailvalidation.errors import InvalidRequestError
from emailvalidation.types import AddressList

_NOTES = """\
The file is CSV, tab-separated, XLSX, or has one address per line. Your columns
come back unchanged, with the results behind them. OUT may end in .csv, .xlsx or
.jsonl.

After Ctrl-C or a lost connection, the same command continues where it was:
nothing is uploaded or charged twice.
"""
_FORMATS = {".xlsx": "xlsx", ".jsonl": "jsonl"}


def add_command(commands: Any) -> None:
    parser = add(commands, "clean", "Validate all addresses of a file.", run, notes=_NOTES)
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, required=True)
    parser.add_argument(
        "--column", help="the column with the addresses: its name, or a number from 0"
    )
    parser.add_argument(
        "--encoding", help="such as utf-8 or windows-1252; by default, it is found out"
    )
    parser.add_argument("--check", choices=["mailbox"], help="also ask mail servers")
    parser.add_argument(
        "--filter",
        default="all",
        choices=["all", "safe", "deliverable", "risky", "undeliverable", "unknown"],
        help="only these rows",
    )
    parser.add_argument(
        "--max-credits", type=int, metavar="N", help="don't start if it can cost more"
    )
    parser.add_argument("-y", "--yes", action="store_true", help="start without asking")


def run(options: argparse.Namespace, screen: Screen) -> None:
    if not options.file.is_file():
        raise ValueError(f"There is no file {options.file}.")
    if not options.output.absolute().parent.is_dir():
        raise ValueError(f"There is no folder {options.output.absolute().parent}.")
    with open_client(options, timeout=60) as client:
        state = _StateFile(client.base_url, options.file)
        current = _find_earlier(client, state, screen)
        if current is None:
            current = _create(client, options)
            state.save(current.id)
        if current.state == "uploading":
            current = _upload(client, current, options, screen)
        if current.started_at is None and current.state in ("parsing", "ready"):
            _start(client, current, options, screen)
        finished = _wait(client, current.id, screen)
        file_format = _FORMATS.get(options.output.suffix.lower(), "csv")
        client.lists.download(finished, options.output, format=file_format, filter=options.filter)
        state.delete()
    _report(finished, options.output, screen)


def _find_earlier(client: Client, state: _StateFile, screen: Screen) -> Optional[AddressList]:
    list_id = state.load()
    if list_id is None:
        return None
    try:
        found = client.lists.get(list_id)
    except InvalidRequestError:
        return None
    if found.state in ("failed", "canceled", "expired"):
        return None
    screen.note(f"Continuing with the list {list_id}.")
    return found


def _create(client: Client, options: argparse.Namespace) -> AddressList:
    body = {"name": options.file.name[:100], "parts": True, "encoding": options.encoding}
    given = {name: value for name, value in body.items() if value is not None}
    response = client.request("POST", "/v1/lists", json=given)
    return AddressList.from_json(response.data)


def _upload(
    client: Client, current: AddressList, options: argparse.Namespace, screen: Screen
) -> AddressList:
    uploaded = client.lists.upload(
        current.id,
        options.file,
        on_progress=lambda done, total: screen.progress("Uploading", done, total),
    )
    screen.end_progress()
    return uploaded


def _start(
    client: Client, current: AddressList, options: argparse.Namespace, screen: Screen
) -> None:
    client.lists.wait(current, until="ready")
    column = options.column
    if column is not None and not column.isdigit():
        column = client.lists.find_column(current.id, column)
    preview = client.lists.preview(current)
    counts, balance = preview.counts, client.credits().balance
    price = preview.price.mailbox_at_most if options.check else preview.price.at_most
    screen.note(
        f"{counts.rows:,} rows, {counts.addresses:,} distinct addresses: at most "
        f"{price or 0:,} credits. Unknown results are free. Your balance is {balance:,}."
    )
    if not options.yes and options.max_credits is None:
        if not sys.stdin.isatty():
            raise ValueError("Say that the list may cost this: add --yes, or --max-credits N.")
        if not confirm("Start?"):
            raise KeyboardInterrupt
    wanted = {
        "column": None if column is None else int(column),
        "max_credits": options.max_credits,
        "encoding": options.encoding,
        "check": options.check,
    }
    client.lists.start(current, **{k: v for k, v in wanted.items() if v is not None})


def _wait(client: Client, list_id: str, screen: Screen) -> AddressList:
    def show(current: AddressList) -> None:
        progress = current.progress
        left = "" if progress.seconds_left is None else f"{progress.seconds_left:,} s left"
        screen.progress("Validating", progress.checked, progress.total, left)

    try:
        finished = client.lists.wait(list_id, until="results", on_progress=show)
    except KeyboardInterrupt:
        screen.end_progress()
        screen.note("The list goes on without this command. Run it again for the results.")
        raise
    screen.end_progress()
    return finished


def _report(finished: AddressList, output: Path, screen: Screen) -> None:
    if screen.as_json:
        screen.document(finished.raw)
        return
    verdicts = finished.verdicts
    for name in ("deliverable", "risky", "undeliverable", "unknown"):
        screen.line(f"{screen.color(f'{name:<13}', name)}  {getattr(verdicts, name):>10,}")
    screen.line(f"{'credits':<13}  {finished.credits.charged:>10,}")
    screen.note(f"The results are in {output}.")
    if finished.state == "rechecking":
        screen.note(
            "Unknown addresses are checked again for up to an hour. For those results, later: "
            f"emailvalidation lists download {finished.id} -o {output}"
        )


class _StateFile:
    """Remembers the list of a file, by the file's path, size and time. It has no addresses."""

    def __init__(self, base_url: str, file: Path) -> None:
        facts = file.stat()
        text = f"{base_url} {file.absolute()} {facts.st_size} {facts.st_mtime_ns}"
        default = Path.home() / ".local" / "state"
        folder = Path(os.environ.get("XDG_STATE_HOME") or default) / "emailvalidation"
        self._path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"

    def load(self) -> Optional[str]:
        with suppress(OSError, ValueError, KeyError, TypeError):
            return str(json.loads(self._path.read_text())["list"])
        return None

    def save(self, list_id: str) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps({"list": list_id}))

    def delete(self) -> None:
        with suppress(OSError):
            self._path.unlink()
