from dataclasses import dataclass

from django.urls import reverse
from django.utils.html import format_html

from apikeys.client_packages import PYTHON_PACKAGE
from validation.presenters.code_samples import build_code_samples
from validation.presenters.requests import format_duration
from validation.reports.overview import Arrival

ARRIVED = "We received your request."


@dataclass(frozen=True)
class ArrivalNotice:
    tone: str
    icon: str
    text: str
    is_preliminary: bool
    link_text: str = ""
    link_url: str = ""


def arrival_notice(arrival: Arrival) -> ArrivalNotice:
    entry = arrival.entry
    url = entry.get_absolute_url() if entry else ""
    if arrival.code:
        text = format_html(
            "We refused your request: {} <code>{}</code>. Fix it and try again. "
            "Your next request will appear here.",
            arrival.status,
            arrival.code,
        )
        return ArrivalNotice(
            "warning",
            "triangle-alert",
            text,
            is_preliminary=True,
            link_text="How to fix it",
            link_url=url or f"{reverse('docs:show-errors')}#{arrival.code}",
        )
    if entry is None:
        return ArrivalNotice("success", "circle-check", ARRIVED, is_preliminary=True)
    result = format_html(
        'We received your request: <strong dir="auto">{}</strong> is {}, validated in {}.',
        entry.address,
        entry.verdict,
        format_duration(entry.duration_ms),
    )
    return ArrivalNotice(
        "success",
        "circle-check",
        result if entry.verdict else ARRIVED,
        is_preliminary=not entry.verdict,
        link_text="View the request",
        link_url=url,
    )


def first_request(secret: str, base_url: str) -> str:
    sample = build_code_samples(base_url, "deliverable@sandbox.test")[0]
    return f"export SVC_API_KEY={secret}\n{sample.code.rstrip()}"


def install_client(base_url: str) -> str:
    return (
        f"pip install {PYTHON_PACKAGE}\n"
        f"export SVC_BASE_URL={base_url}\n"
        "emailvalidation validate deliverable@sandbox.test"
    )


def create_key_hint(account_name: str, *, may_create_keys: bool) -> str:
    if may_create_keys:
        return "Your server uses it to authenticate."
    return f"Ask an owner, admin, or developer of {account_name} to create one."


def paste_hint(*, may_create_keys: bool) -> str:
    if may_create_keys:
        return "When you create a key, we show you these commands with the key filled in."
    return "Get a key from a teammate who can create one."


def steps_intro(*, is_complete: bool) -> str:
    if is_complete:
        return "Your first request worked. Requests for real addresses will be charted here."
    return "Send your first request in three steps. It's free and takes about two minutes."
