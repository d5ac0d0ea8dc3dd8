"""Let a domain's postmaster end mailbox checks, without an account."""

from datetime import timedelta

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.emails import link, queue_email
from reference.landing.visitor_checks import Limit, TooManyChecks, count_visit
from runtime.http.request import IdentifiedRequest
from validation.forms import clean_domain
from validation.models import UnprobedDomain

LINK_LIFETIME = timedelta(days=7)
EMAILS_PER_HOUR = Limit(5, 3600, "counters")
_SALT = "reference.opt_out"


class OptOutForm(forms.Form):
    domain = forms.CharField(
        max_length=255,
        help_text="Its subdomains are included.",
        widget=forms.TextInput({"autocomplete": "off", "placeholder": "shop.example"}),
    )

    def clean_domain(self) -> str:
        return clean_domain(self.cleaned_data["domain"])


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def ask_to_opt_out(request: IdentifiedRequest) -> HttpResponse:
    """Email a link to the domain's postmaster. The visitor isn't asked who they are."""
    _require_mailbox_checks()
    form = OptOutForm(request.POST or None)
    if not form.is_valid():
        return render(request, "reference/ask_to_opt_out.html", {"form": form})
    try:
        count_visit("opt_out", request.ip, [EMAILS_PER_HOUR])
    except TooManyChecks as refusal:
        request.refusal = "too_many_opt_outs"
        form.add_error(None, "Your network has asked for many emails. Try again in an hour.")
        page = render(request, "reference/ask_to_opt_out.html", {"form": form}, status=429)
        page["Retry-After"] = str(refusal.retry_after)
        return page
    domain = form.cleaned_data["domain"]
    # The page doesn't say whether the recipient's limit dropped it.
    queue_opt_out(to=f"postmaster@{domain}", domain=domain)
    return render(request, "reference/ask_to_opt_out.html", {"sent_to": f"postmaster@{domain}"})


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def opt_out(request: HttpRequest, token: str) -> HttpResponse:
    """Ask for confirmation first, because mail scanners follow links."""
    _require_mailbox_checks()
    try:
        domain = signing.loads(token, salt=_SALT, max_age=LINK_LIFETIME)
    except signing.BadSignature:
        return render(request, "reference/opt_out.html", status=404)
    if request.method == "POST":
        note = "By the form for postmasters"
        values = {"source": UnprobedDomain.Source.POSTMASTER, "note": note}
        UnprobedDomain.objects.get_or_create(domain=domain, defaults=values)
    is_done = UnprobedDomain.objects.filter(domain=domain).exists()
    return render(request, "reference/opt_out.html", {"domain": domain, "is_done": is_done})


def queue_opt_out(*, to: str, domain: str) -> None:
    context = {
        "domain": domain,
        "link": link("reference:opt-out", token=signing.dumps(domain, salt=_SALT)),
        "expires_at": timezone.now() + LINK_LIFETIME,
    }
    queue_email(to, "reference/mails/opt_out", context)


def _require_mailbox_checks() -> None:
    if not settings.PROBE_MAILBOX_CHECKS:
        raise Http404
