from __future__ import annotations

import argparse
import ssl
import time
from email.utils import parsedate_to_datetime
from typing import Any, Optional

from emailvalidation._calls import Response
from emailvalidation.cli.options import add_command as add
from emailvalidation.cli.options import open_client
from emailvalidation.cli.screen import Screen
from emailvalidation.client import Client
from emailvalidation.errors import (
    AuthenticationError,
    ConnectionFailed,
    EmailValidationError,
    PermissionDeniedError,
)

_MAX_CLOCK_ERROR = 60


class _Findings:
    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self.all: list[dict[str, Any]] = []

    def add(self, what: str, text: str, cure: str = "") -> None:
        """Print a finding. One with a cure is a problem."""
        self.all.append({"check": what, "ok": not cure, "text": text, "cure": cure or None})
        if not self._screen.as_json:
            mark = (
                self._screen.color("ok   ", "ok")
                if not cure
                else self._screen.color("wrong", "wrong")
            )
            self._screen.line(f"{mark}  {what:<11}  {text}")
            if cure:
                self._screen.line(f"{'':20}{cure}")


def add_command(commands: Any) -> None:
    add(commands, "doctor", "Check key, connection, clock, limits and credits, with cures.", run)


def run(options: argparse.Namespace, screen: Screen) -> None:
    findings = _Findings(screen)
    with open_client(options, timeout=10) as client:
        findings.add("Key", "It has the form of an API key.")
        _check_url(client, findings)
        response = _reach(client, findings)
        if response is not None:
            _check_clock(response, findings)
            _check_key(client, response.data, findings)
    if screen.as_json:
        screen.document(findings.all)
    problems = sum(not one["ok"] for one in findings.all)
    if problems:
        raise ValueError(f"{problems} of {len(findings.all)} checks found a problem.")


def _check_url(client: Client, findings: _Findings) -> None:
    is_encrypted = client.base_url.startswith("https://")
    findings.add(
        "Base URL", client.base_url if is_encrypted else f"{client.base_url} (this machine)"
    )


def _reach(client: Client, findings: _Findings) -> Optional[Response]:
    start = time.monotonic()
    try:
        response = client.request("GET", "/v1/me", timeout=10)
    except AuthenticationError as error:
        cure = "Create a key under Settings → API Keys, and set SVC_API_KEY to it."
        findings.add("Account", error.message, cure)
    except PermissionDeniedError as error:
        findings.add("Account", error.message, error.doc_url or "Ask an owner of the account.")
    except ConnectionFailed as error:
        cause = error.__cause__
        if isinstance(cause, ssl.SSLError):
            cure = "Check the clock and the certificates of this machine, and any proxy."
            findings.add("TLS", str(cause), cure)
        else:
            cure = "Check SVC_BASE_URL, the network, and HTTPS_PROXY."
            findings.add("Connection", error.message, cure)
    except EmailValidationError as error:
        cure = "Is this the URL of the service? Otherwise try again in a minute."
        findings.add("Connection", error.message, cure)
    else:
        milliseconds = round((time.monotonic() - start) * 1000)
        findings.add("Connection", f"A response after {milliseconds} ms.")
        return response
    return None


def _check_clock(response: Response, findings: _Findings) -> None:
    sent_at = response.headers.get("date")
    if not sent_at:
        return
    seconds = round(time.time() - parsedate_to_datetime(sent_at).timestamp())
    if abs(seconds) <= _MAX_CLOCK_ERROR:
        findings.add("Clock", "It agrees with the service.")
    else:
        direction = "ahead" if seconds > 0 else "behind"
        cure = "Webhooks would be refused as too old. Let the machine set its time by NTP."
        findings.add("Clock", f"It is {abs(seconds):,} s {direction}.", cure)


def _check_key(client: Client, me: Any, findings: _Findings) -> None:
    findings.add("Account", f"{me['account']['name']} ({me['plan']}), key {me['key']['name']}.")
    scopes = me["key"]["scopes"]
    findings.add("Scopes", "All." if scopes is None else f"{', '.join(scopes)}.")
    limit = me["rate_limit"]
    findings.add("Rate limit", f"{limit['limit']:,} requests per {limit['window']} s.")
    try:
        credits = client.credits()
    except PermissionDeniedError:
        findings.add("Credits", "This key may not read them (scope usage:read).")
        return
    if credits.balance:
        findings.add("Credits", f"{credits.balance:,}.")
    else:
        findings.add("Credits", "None.", f"Buy some: {client.base_url}/credits/")
