from datetime import timedelta
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.text import slugify
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import audit
from accounts.models import Account, User
from accounts.staff import hooks
from accounts.staff.links import account_link, admin_url
from accounts.staff.request import StaffRequest

VIEWED = "account.looked_at_by_staff"
# Repeated views leave one audit entry.
VIEW_ENTRY_INTERVAL = timedelta(hours=1)
# The tab that is the admin's form.
SETTINGS = "settings"


class SearchForm(forms.Form):
    text = forms.CharField(max_length=254)


@sensitive_post_parameters()
def search(request: StaffRequest, site: AdminSite) -> HttpResponse:
    """Search by POST, because the text may be an API key, and URLs are logged."""
    form = SearchForm(request.POST)
    text = form.cleaned_data["text"] if form.is_valid() else ""
    is_secret = import_string(settings.API_KEY_DETECTOR)(text)
    hook = hooks.staff_secret_searches if is_secret else hooks.staff_searches
    found = [find(user=request.user, text=text) for find in hook] if text else []
    searches = [results for results in found if results is not None and results.hits]
    exact = [hit for results in searches for hit in results.hits if hit.is_exact]
    if len(exact) == 1:
        return redirect(exact[0].link.url)
    context = {
        **site.each_context(request),
        "title": "Search",
        # Don't show a key again: browsers may cache the page.
        "text": "" if is_secret else text,
        "is_secret": is_secret,
        "searches": searches,
        "is_submitted": request.method == "POST",
    }
    return render(request, "admin/search.html", context)


@require_safe
def show_account(request: StaffRequest, public_id: str, site: AdminSite) -> HttpResponse:
    """Show what the customer sees, as staff can't sign in as customers."""
    if not request.user.has_perm("accounts.view_account"):
        raise PermissionDenied("Your staff group can't view accounts. Ask a colleague who can.")
    accounts = Account.objects.select_related("wallet", "subscription__plan")
    account = get_object_or_404(accounts, public_id=public_id)
    record_view(account, request)
    tabs = account_tabs(request.user, account, request.GET.get("tab", ""))
    tab = next((tab.text for tab in tabs if tab.is_current), "")
    hook = hooks.staff_account_panels
    panels = [build(user=request.user, account=account) for build in hook if build.tab == tab]
    model_admin: Any = site.get_model_admin(Account)
    context = {
        **site.each_context(request),
        **model_admin.describe_actions(request.user, account),
        "title": account.name,
        "original": account,
        "tabs": tabs,
        "panels": [panel for panel in panels if panel is not None],
    }
    return render(request, "admin/account.html", context)


class Tab(NamedTuple):
    text: str
    url: str
    is_current: bool


def account_tabs(user: User, account: Account, chosen: str) -> list[Tab]:
    """Return the tabs that the user may see. Without a known choice, the first is current."""
    allowed = [build.tab for build in hooks.staff_account_panels if build.is_allowed(user)]
    names = {slugify(name): name for name in allowed}
    current = chosen if chosen in (*names, SETTINGS) else next(iter(names), SETTINGS)
    url = account_link(account).url
    tabs = [Tab(name, f"{url}?tab={slug}", slug == current) for slug, name in names.items()]
    return [*tabs, Tab("Settings", admin_url(account), current == SETTINGS)]


@transaction.atomic
def record_view(account: Account, request: StaffRequest) -> None:
    # Lock the account, so that concurrent views leave one entry.
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    since = timezone.now() - VIEW_ENTRY_INTERVAL
    recent = account.audit_entries.filter(actor=request.user, action=VIEWED, at__gt=since)
    if not recent.exists():
        audit.record(account, request.user, VIEWED, account.name)
