from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path
from typing import Any

from emailvalidation.cli.options import add_command as add
from emailvalidation.cli.options import open_client
from emailvalidation.cli.screen import Screen
from emailvalidation.types import AddressList


def add_commands(commands: Any) -> None:
    parser = add(commands, "lists", "Print your lists, or work with one of them.", print_all)
    parser.add_argument("--state", help="only lists in these states, separated by commas")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="at most N (20)")
    actions = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, about, run in (
        ("show", "Print one list.", show),
        ("cancel", "Cancel a list. Its results so far stay.", cancel),
        ("delete", "Delete a list with its results.", delete),
    ):
        add(actions, name, about, run).add_argument("id", metavar="ID")
    get = add(actions, "download", "Download the results of a list.", download)
    get.add_argument("id", metavar="ID")
    get.add_argument("-o", "--output", metavar="OUT", type=Path, required=True)
    get.add_argument("--format", choices=["csv", "xlsx", "jsonl"], default="csv")
    get.add_argument(
        "--filter",
        default="all",
        choices=["all", "safe", "deliverable", "risky", "undeliverable", "unknown"],
    )
    get.add_argument("--partial", action="store_true", help="the results so far")


def print_all(options: argparse.Namespace, screen: Screen) -> None:
    with open_client(options) as client:
        found = list(islice(client.lists.all(state=options.state), options.limit))
    if screen.as_json:
        screen.document([one.raw for one in found])
        return
    rows = [
        (
            one.id,
            one.state,
            one.counts.addresses if one.counts else 0,
            one.credits.charged,
            one.name,
        )
        for one in found
    ]
    screen.table(("ID", "State", "Addresses", "Credits", "Name"), rows, "No lists.")


def show(options: argparse.Namespace, screen: Screen) -> None:
    with open_client(options) as client:
        _print(client.lists.get(options.id), screen)


def cancel(options: argparse.Namespace, screen: Screen) -> None:
    with open_client(options) as client:
        _print(client.lists.cancel(options.id), screen)


def delete(options: argparse.Namespace, screen: Screen) -> None:
    with open_client(options) as client:
        client.lists.delete(options.id)
    if screen.as_json:
        screen.document({"id": options.id, "deleted": True})
    else:
        screen.note(f"{options.id} is deleted.")


def download(options: argparse.Namespace, screen: Screen) -> None:
    with open_client(options) as client:
        client.lists.download(
            options.id,
            options.output,
            format=options.format,
            filter=options.filter,
            partial=options.partial,
        )
    if screen.as_json:
        screen.document({"id": options.id, "file": str(options.output)})
    else:
        screen.note(f"The results are in {options.output}.")


def _print(one: AddressList, screen: Screen) -> None:
    if screen.as_json:
        screen.document(one.raw)
        return
    verdicts = one.verdicts
    rows: list[tuple[str, object]] = [
        ("ID", one.id),
        ("Name", one.name),
        ("State", one.state),
        ("Checked", f"{one.progress.checked:,} of {one.progress.total:,}"),
        ("Deliverable", verdicts.deliverable),
        ("Risky", verdicts.risky),
        ("Undeliverable", verdicts.undeliverable),
        ("Unknown", verdicts.unknown),
        ("Credits charged", one.credits.charged),
    ]
    if one.error:
        rows.append(("Error", one.error.message))
    screen.facts(rows)
