"""Look up a domain for a visitor, within the limits of the landing page's check."""

import time

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apikeys.errors import ApiError
from apikeys.rest.responses import error_response, json_response
from reference.domains.presenters import describe_status, domain_document, explain_disposable
from reference.landing.presenters import describe_limit
from reference.landing.visitor_checks import TooManyChecks, check_for_visitor
from runtime.http.request import IdentifiedRequest
from validation.forms import INVALID_DOMAIN, clean_domain

# Every provider's rules allow it, so the verdict is the domain's.
MAILBOX = "mailbox"
TEMPLATE = "reference/show_domain.html"


@login_not_required
@never_cache
@require_safe
def find_domain(request: IdentifiedRequest) -> HttpResponse:
    """Show the form, and redirect from it to the domain's page."""
    typed = request.GET.get("domain", "")
    return show_domain(request, typed) if typed else render(request, TEMPLATE)


@login_not_required
@never_cache
@require_safe
def show_domain(request: IdentifiedRequest, domain: str, *, is_json: bool = False) -> HttpResponse:
    """Check the syntax, then the limits, and only then query the DNS."""
    try:
        ascii_domain = clean_domain(domain)
        path = reverse("reference:show-domain", args=[ascii_domain])
        if not is_json and request.path != path:
            return redirect(path)
        finding = check_for_visitor(email=f"{MAILBOX}@{ascii_domain}", ip=request.ip)
        if finding.syntax_problem is not None:
            raise ValidationError(INVALID_DOMAIN)
    except ValidationError as error:
        (message,) = error.messages
        if is_json:
            return error_response(ApiError("invalid_field", message, "domain"), request.id)
        return render(request, TEMPLATE, {"typed": domain, "error": message}, status=400)
    except TooManyChecks as refusal:
        request.refusal = "too_many_checks"
        return _refuse(request, domain, refusal, is_json=is_json)
    document = domain_document(finding)
    if is_json:
        return json_response(document, {"X-Robots-Tag": "noindex"})
    status, summary = describe_status(finding)
    context = {
        "typed": document["domain"],
        "result": document,
        "status": status,
        "summary": summary,
        "disposable_because": explain_disposable(finding, ascii_domain),
    }
    return render(request, TEMPLATE, context)


def _refuse(
    request: IdentifiedRequest, domain: str, refusal: TooManyChecks, *, is_json: bool
) -> HttpResponse:
    wait, limit, message = refusal.retry_after, refusal.limit, describe_limit(refusal)
    if not is_json:
        context = {"typed": domain, "limit": message}
        page = render(request, TEMPLATE, context, status=429)
        page["Retry-After"] = str(wait)
        return page
    details = {"limit": limit.checks, "window": limit.seconds, "retry_after": wait}
    details["reset"] = int(time.time()) + wait
    headers = {"Retry-After": str(wait)}
    error = ApiError("rate_limit_exceeded", message, None, details, headers)
    return error_response(error, request.id)
