from __future__ import annotations

import argparse
from typing import Any

from emailvalidation.cli.options import add_command as add
from emailvalidation.cli.options import open_client
from emailvalidation.cli.screen import Screen


def add_commands(commands: Any) -> None:
    add(commands, "credits", "Print the balance.", print_credits)
    usage = add(commands, "usage", "Print requests and credits of each day.", print_usage)
    usage.add_argument("--from", dest="first", metavar="YYYY-MM-DD", help="29 days before --to")
    usage.add_argument("--to", metavar="YYYY-MM-DD", help="today")
    usage.add_argument("--source", choices=["api", "playground", "lists"])


def print_credits(options: argparse.Namespace, screen: Screen) -> None:
    with open_client(options) as client:
        credits = client.credits()
    if screen.as_json:
        screen.document(credits.raw)
        return
    rows: list[tuple[str, object]] = [
        ("Balance", credits.balance),
        ("Held by lists", credits.held),
        ("Used this period", credits.used_this_period),
        ("Plan", credits.plan),
    ]
    if credits.next_grant_at:
        rows.append(("Next credits", f"{credits.next_grant:,} on {credits.next_grant_at[:10]}"))
    screen.facts(rows)


def print_usage(options: argparse.Namespace, screen: Screen) -> None:
    with open_client(options) as client:
        usage = client.usage(from_=options.first, to=options.to, source=options.source)
    if screen.as_json:
        screen.document(usage.raw)
        return
    days = [day for day in usage.days if day.requests]
    names = ("requests", "credits", "deliverable", "risky", "undeliverable", "unknown")
    rows: list[list[object]] = [[day.date, *(getattr(day, name) for name in names)] for day in days]
    if rows:
        rows.append(["Total", *(sum(getattr(day, name) for day in days) for name in names)])
    head = ("Day", *(name.capitalize() for name in names))
    screen.table(head, rows, "No requests in this period.")
