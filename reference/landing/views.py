from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from credits.models import Pack, Plan
from reference.accuracy import load_accuracy
from reference.landing.presenters import describe_limit, describe_reason, pack_cards, plan_cards
from reference.landing.visitor_checks import TooManyChecks, check_for_visitor
from runtime.http.public_pages import public_page
from runtime.http.request import IdentifiedRequest
from validation.forms import AddressForm
from validation.presenters.code_samples import build_code_samples
from validation.presenters.retention import describe_stored_results

HEADLINE = "Catch bad email addresses before you send"
DESCRIPTION = (
    "Check email addresses with one API call, or clean a whole list: a verdict, its reason, and "
    "a correction for likely typos. Start for free."
)
# Mistyped on purpose.
EXAMPLE = "jane.doe@gmial.com"


@public_page
def show_landing(request: IdentifiedRequest) -> HttpResponse:
    """Show a page without CSRF token or message: it is the same for all visitors."""
    context = {
        "headline": HEADLINE,
        "description": DESCRIPTION,
        "free_credits": Plan.objects.free().monthly_credits,
        "plans": plan_cards(Plan.objects.offered()),
        "packs": pack_cards(Pack.objects.offered()),
        "samples": build_code_samples(settings.BASE_URL, EXAMPLE),
        "accuracy": load_accuracy(),
        "seller": (settings.SELLER_NAME, settings.SELLER_ADDRESS),
        "checks_mailboxes": settings.PROBE_MAILBOX_CHECKS,
        "log_days": settings.LOG_RETENTION_DAYS,
        "stored_results": describe_stored_results(
            settings.RESULT_RETENTION_HOURS, settings.LIST_RETENTION_DAYS
        ),
    }
    return render(request, "reference/show_landing.html", context)


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def check_address(request: IdentifiedRequest) -> HttpResponse:
    """Check an address. The landing page's script shows the result on that page."""
    form = AddressForm(request.POST or None)
    if not form.is_valid():
        return render(request, "reference/check_address.html", {"form": form})
    try:
        finding = check_for_visitor(email=form.cleaned_data["email"], ip=request.ip)
    except TooManyChecks as refusal:
        request.refusal = "too_many_checks"
        context = {"form": form, "limit": describe_limit(refusal)}
        page = render(request, "reference/check_address.html", context, status=429)
        page["Retry-After"] = str(refusal.retry_after)
        return page
    context = {"form": form, "finding": finding, "explanation": describe_reason(finding)}
    return render(request, "reference/check_address.html", context)
