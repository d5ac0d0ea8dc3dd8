from __future__ import annotations

import argparse
import http.client
import json
import os
import secrets
import time
import urllib.error
import urllib.request
from base64 import b64encode
from typing import Any, Union
from urllib.parse import urlsplit

from emailvalidation import webhooks
from emailvalidation.cli.options import add_command as add
from emailvalidation.cli.options import open_client
from emailvalidation.cli.screen import Screen
from emailvalidation.types import Event

_NOTES = """\
Each new event is sent to the URL like a webhook, signed with the secret that is
printed at the start, so that you can try your code without a tunnel. Set
WEBHOOK_SECRET to use your own secret.
"""


def add_commands(commands: Any) -> None:
    parser = commands.add_parser(
        "events", help="follow what happens in the account", description="Events of the account."
    )
    actions = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    tail_parser = add(actions, "tail", "Print the latest events.", tail)
    tail_parser.add_argument("-f", "--follow", action="store_true", help="wait for new ones")
    tail_parser.add_argument("-n", type=int, default=10, metavar="N", help="the last N (10)")
    tail_parser.add_argument("--type", help="only these types, separated by commas")
    listen_parser = add(
        commands, "listen", "Send new events to a URL of this machine.", listen, notes=_NOTES
    )
    listen_parser.add_argument("--forward", metavar="URL", required=True)
    listen_parser.add_argument("--type", help="only these types, separated by commas")


def tail(options: argparse.Namespace, screen: Screen) -> None:
    with open_client(options) as client:
        query = {"limit": max(1, min(100, options.n)), "type": options.type}
        page = client.request("GET", "/v1/events", query=query).data["data"]
        if not page and not options.follow:
            screen.note("No events.")
        for raw in reversed(page):
            _print(Event.from_json(raw), screen)
        if options.follow:
            last = page[0]["id"] if page else ""
            for event in client.events.iterate(last, type=options.type, follow=True):
                _print(event, screen)


def _print(event: Event, screen: Screen) -> None:
    if screen.as_json:
        screen.record(event.raw)
    else:
        facts = " ".join(f"{name}={value}" for name, value in event.data.items())
        print(f"{event.timestamp[:19]}Z  {event.type:<26}  {facts}", flush=True)


def listen(options: argparse.Namespace, screen: Screen) -> None:
    if urlsplit(options.forward).scheme not in ("http", "https"):
        raise ValueError("--forward must be a URL such as http://localhost:3000/hook.")
    secret = (
        os.environ.get("WEBHOOK_SECRET") or f"whsec_{b64encode(secrets.token_bytes(24)).decode()}"
    )
    with open_client(options) as client:
        newest = client.events.newest()
        screen.note(f"WEBHOOK_SECRET={secret}")
        screen.note(f"Sending new events to {options.forward}. Stop with Ctrl-C.")
        after = newest.id if newest else ""
        for event in client.events.iterate(after, type=options.type, follow=True):
            start = time.monotonic()
            outcome = _forward(event, options.forward, secret)
            milliseconds = round((time.monotonic() - start) * 1000)
            if screen.as_json:
                screen.record({"id": event.id, "type": event.type, "response": outcome})
            else:
                print(f"{event.type:<26}  {event.id}  {outcome}  {milliseconds} ms", flush=True)


def _forward(event: Event, url: str, secret: str) -> Union[int, str]:
    """Return the response's status, or why there is none."""
    body = json.dumps(event.raw, ensure_ascii=False, separators=(",", ":")).encode()
    now = int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "emailvalidation-listen",
        "webhook-id": event.id,
        "webhook-timestamp": str(now),
        "webhook-signature": webhooks.sign(event.id, now, body, secret),
    }
    request = urllib.request.Request(url, body, headers, method="POST")  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=15) as response:  # noqa: S310
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, http.client.HTTPException) as error:
        return f"no response: {error}"
