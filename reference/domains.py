"""Look up a domain for a visitor, within the limits of the landing page's check."""

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.engine import get_engine
from apikeys.errors import ApiError
from apikeys.rest.responses import error_response, json_response
from engine import Finding, explain_result, is_below
from reference.landing.presenters import describe_limit
from reference.landing.visitor_checks import TooManyChecks, check_for_visitor
from runtime.http.request import IdentifiedRequest
from validation.domain_data import staff_domains
from validation.forms import INVALID_DOMAIN, clean_domain

# Every provider's rules allow it, so the verdict is the domain's.
MAILBOX = "mailbox"
_FIELDS = ("domain", "ascii_domain", "verdict", "reason", "reasons", "lookalike_of", "mx", "lists")
_CHECKS = ("domain_exists", "accepts_mail", "disposable", "free_provider", "relay")


@login_not_required
@never_cache
@require_safe
def show_domain(
    request: IdentifiedRequest, domain: str = "", *, is_json: bool = False
) -> HttpResponse:
    """Check the syntax, then the limits, and only then query the DNS."""
    typed = domain or request.GET.get("domain", "")
    context: dict[str, Any] = {"typed": typed}
    status, headers = 200, {"X-Robots-Tag": "noindex"} if typed else {}
    try:
        if typed:
            ascii_domain = clean_domain(typed)
            path = reverse("reference:show-domain", args=[ascii_domain])
            if not is_json and request.path != path:
                return redirect(path)
            finding = check_for_visitor(email=f"{MAILBOX}@{ascii_domain}", ip=request.ip)
            if finding.syntax_problem is not None:
                raise ValidationError(INVALID_DOMAIN)
            context["result"] = describe_domain(finding, ascii_domain)
    except ValidationError as problem:
        status, code, param = 400, "invalid_field", "domain"
        context["error"] = problem.messages[0]
    except TooManyChecks as refusal:
        status, code, param = 429, "rate_limit_exceeded", None
        request.refusal = "too_many_checks"
        context["limit"] = describe_limit(refusal)
        headers["Retry-After"] = str(refusal.retry_after)
    if is_json:
        if status == 200:
            return json_response(context["result"], headers)
        message = context.get("error") or context["limit"]
        return error_response(ApiError(code, message, param, headers=headers), request.id)
    page = render(request, "reference/show_domain.html", context, status=status)
    for name, value in headers.items():
        page[name] = value
    return page


def describe_domain(finding: Finding, ascii_domain: str) -> dict[str, Any]:
    """Return the fields of a result that concern the domain, and two sentences."""
    document = finding.document()
    return {
        **{name: document[name] for name in _FIELDS},
        "did_you_mean": (finding.did_you_mean or "").rpartition("@")[2] or None,
        "checks": {name: document["checks"][name] for name in _CHECKS},
        "summary": explain_result(finding.reason, finding.did_you_mean).means,
        "disposable_because": _explain_disposable(finding, ascii_domain),
    }


def _explain_disposable(finding: Finding, ascii_domain: str) -> str:
    """Say which list names the domain or its mail host, and of which day it is."""
    decided = staff_domains.current().are_disposable(ascii_domain)
    if decided is not None:
        return f"Our support team {'listed' if decided else 'cleared'} it after a report."
    data, day = get_engine().domain_data, finding.lists["disposable"]
    if finding.disposable_by == "domain":
        return f"By name: the domain is in our lists of disposable domains of {day}."
    if finding.disposable_by is None:
        return f"Neither its name nor its mail host is in our lists of {day}."
    for _, host in finding.route.hosts:
        if is_below(host, data.disposable_hosts):
            day = data.read("disposable_hosts").date
            return f"By mail host: {host} is in our list of mail hosts of {day}."
    return "By mail host: our support team found that it serves disposable domains."
