"""Say what a new account does next, and how its first request arrived. Pure."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.html import format_html

from validation.models import LogEntry
from validation.reports.overview import Arrival


@dataclass(frozen=True)
class ArrivalNotice:
    """The notice that takes the place of “Waiting for your first request”."""

    tone: str
    icon: str
    text: str
    # Whether the page keeps asking for a later request.
    is_preliminary: bool
    link_text: str = ""
    link_url: str = ""


def arrival_notice(arrival: Arrival) -> ArrivalNotice:
    if arrival.code:
        return _refusal_notice(arrival)
    entry = arrival.entry
    if entry is None:
        return ArrivalNotice("success", "circle-check", "It arrived.", is_preliminary=True)
    return ArrivalNotice(
        "success",
        "circle-check",
        _result(entry),
        is_preliminary=not entry.verdict,
        link_text="See the details",
        link_url=entry.get_absolute_url(),
    )


def _refusal_notice(arrival: Arrival) -> ArrivalNotice:
    docs = f"{reverse('docs:show-errors')}#{arrival.code}"
    text = format_html(
        "It arrived, but was refused: {} <code>{}</code>. Fix it and try again: "
        "the next request appears here, too.",
        arrival.status,
        arrival.code,
    )
    return ArrivalNotice(
        "warning",
        "triangle-alert",
        text,
        is_preliminary=True,
        link_text="See what to do",
        link_url=arrival.entry.get_absolute_url() if arrival.entry else docs,
    )


def _result(entry: LogEntry) -> str:
    if not entry.verdict:
        return "It arrived."
    return format_html(
        'It arrived: <strong dir="auto">{}</strong> is {}, validated in {} ms.',
        entry.address,
        entry.verdict,
        f"{entry.duration_ms:,}",
    )


def first_request(secret: str, base_url: str) -> str:
    """Return two lines for a terminal: a request to the sandbox, which costs nothing."""
    return (
        f"export SVC_API_KEY={secret}\n"
        f'curl {base_url}/v1/validate -H "Authorization: Bearer $SVC_API_KEY" '
        '-H "Content-Type: application/json" '
        """-d '{"email": "deliverable@sandbox.test"}'"""
    )


def create_key_hint(account_name: str, *, may_create_keys: bool) -> str:
    if may_create_keys:
        return "Your server uses it to authenticate."
    return f"Ask an owner, admin, or developer of {account_name} to create one."


def paste_hint(*, may_create_keys: bool) -> str:
    if may_create_keys:
        return "The page of your new key shows them with the key filled in."
    return "Use a key from a teammate who may create one."
