"""What a new account reads until its first request has arrived."""

from django.template.loader import render_to_string
from django.utils import timezone

from validation.models import LogEntry
from validation.presenters.code_samples import first_request
from validation.reports.overview import Arrival
from validation.templatetags.results import first_request as colored_first_request


def entry(**fields: str) -> LogEntry:
    return LogEntry(
        at=timezone.now(), request_id="req_1234567", status=200, duration_ms=1_200, **fields
    )


def render(arrival: Arrival) -> str:
    context = {"arrival": arrival, "is_overview": False}
    return " ".join(render_to_string("validation/fragments/arrival.html", context).split())


def test_validated_request_shows_its_verdict() -> None:
    notice = render(Arrival(entry(address="<i>***@shop.example", verdict="risky")))
    assert "banner-success" in notice and "data-poll-again" not in notice
    assert "&lt;i&gt;***@shop.example</strong> is risky, validated in 1,200 ms." in notice
    assert "View the request" in notice


def test_refusal_links_to_its_entry_or_to_the_docs() -> None:
    logged = render(Arrival(entry(refusal="missing_field")))
    assert 'href="/validation/requests/req_1234567/' in logged
    notice = render(Arrival(None, "api_key_revoked"))
    assert "banner-warning" in notice and "data-poll-again" in notice
    assert "refused your request: 401 <code>api_key_revoked</code>" in notice
    assert 'href="/docs/errors/#api_key_revoked"' in notice


def test_request_without_a_log_entry_is_only_announced() -> None:
    notice = render(Arrival())
    assert "banner-success" in notice and "data-poll-again" in notice
    assert "<span>We received your request.</span>" in notice and "View" not in notice


def test_first_request_is_two_commands_with_the_key() -> None:
    lines = first_request("svc_live_x", "https://api.example").splitlines()
    assert lines[0] == "export SVC_API_KEY=svc_live_x"
    assert lines[1] == "curl https://api.example/v1/validate \\"
    # None is too long for a phone in landscape, or for the page at 1280 pixels.
    assert max(map(len, lines)) < 60


def test_colored_first_request_is_escaped_and_not_cached_with_the_key() -> None:
    colored = colored_first_request("<b>'x'", "https://api.example")
    assert "SVC_API_KEY</span>=&lt;b&gt;&#x27;x&#x27;\n" in colored
    assert "svc_live_y" in colored_first_request("svc_live_y", "https://api.example")
