"""The staff's own pages beside the admin's lists: an account's usage."""

from datetime import timedelta
from typing import Any

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts import audit, seams
from accounts.models import Account

LOOKED = "account.looked_at_by_staff"
LOOK_NOTED_EVERY = timedelta(hours=1)


@require_safe
def show_usage(request: Any, public_id: str, site: AdminSite) -> HttpResponse:
    """To look at alone: staff see what a customer sees, and stay who they are."""
    if not request.user.has_perm("accounts.view_account"):
        raise PermissionDenied("Your group does not look at accounts. Ask a colleague who may.")
    accounts = Account.objects.select_related("wallet", "subscription__plan")
    account = get_object_or_404(accounts, public_id=public_id)
    note_look(account, request)
    panels = seams.call("STAFF_ACCOUNT_PANELS", user=request.user, account=account)
    context = {
        **site.each_context(request),
        "title": account.name,
        "account": account,
        "panels": [panel for panel in panels if panel is not None],
    }
    return render(request, "admin/usage.html", context)


@transaction.atomic
def note_look(account: Account, request: Any) -> None:
    # Locked, so that of two pages opened at once only one is noted.
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    since = timezone.now() - LOOK_NOTED_EVERY
    noted = account.audit_entries.filter(actor=request.user, action=LOOKED, at__gt=since)
    if not noted.exists():
        audit.record(account, request.user, LOOKED, account.name, request.ip)
