"""The staff's own pages beside the admin's lists: the search, and an account's usage."""

from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.module_loading import import_string
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import audit
from accounts.models import Account
from accounts.staff.panels import Findings
from runtime import hooks

LOOKED = "account.looked_at_by_staff"
LOOK_NOTED_EVERY = timedelta(hours=1)


class SearchForm(forms.Form):
    text = forms.CharField(max_length=254)


@sensitive_post_parameters()
def search(request: Any, site: AdminSite) -> HttpResponse:
    """By POST: what is looked for may be a key, and an address stands in logs and histories."""
    form = SearchForm(request.POST)
    text = form.cleaned_data["text"] if form.is_valid() else ""
    is_secret = import_string(settings.KNOWS_SECRETS)(text)
    findings = _find(request, text, is_secret) if text else []
    exact = [hit for found in findings for hit in found.hits if hit.is_exact]
    if len(exact) == 1:
        return redirect(exact[0].link.url)
    context = {
        **site.each_context(request),
        "title": "Search",
        # Never given again: the answer is a page like others.
        "text": "" if is_secret else text,
        "is_secret": is_secret,
        "findings": findings,
        "was_asked": request.method == "POST",
    }
    return render(request, "admin/search.html", context)


def _find(request: Any, text: str, is_secret: bool) -> list[Findings]:
    searches = "STAFF_SECRET_SEARCHES" if is_secret else "STAFF_SEARCHES"
    found = hooks.call(searches, user=request.user, text=text)
    return [findings for findings in found if findings is not None and findings.hits]


@require_safe
def show_usage(request: Any, public_id: str, site: AdminSite) -> HttpResponse:
    """To look at alone: staff see what a customer sees, and stay who they are."""
    if not request.user.has_perm("accounts.view_account"):
        raise PermissionDenied("Your group does not look at accounts. Ask a colleague who may.")
    accounts = Account.objects.select_related("wallet", "subscription__plan")
    account = get_object_or_404(accounts, public_id=public_id)
    record_look(account, request)
    panels = hooks.call("STAFF_ACCOUNT_PANELS", user=request.user, account=account)
    context = {
        **site.each_context(request),
        "title": account.name,
        "account": account,
        "panels": [panel for panel in panels if panel is not None],
    }
    return render(request, "admin/usage.html", context)


@transaction.atomic
def record_look(account: Account, request: Any) -> None:
    # Locked, so that of two pages opened at once only one is noted.
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    since = timezone.now() - LOOK_NOTED_EVERY
    noted = account.audit_entries.filter(actor=request.user, action=LOOKED, at__gt=since)
    if not noted.exists():
        audit.record(account, request.user, LOOKED, account.name, request.ip)
