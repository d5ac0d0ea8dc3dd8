from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission, who_has
from apikeys.actor import Actor
from validation.account_domains.forms import DomainsForm
from validation.account_domains.services import (
    MAX_ENTRIES,
    DomainsChanged,
    read_domains,
    replace_domains,
)
from validation.models import AccountDomains
from validation.presenters.domains import overruled_note, saved_message

PAGE = "validation:show-domains"


@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_domains(request: AccountRequest) -> HttpResponse:
    domains = read_domains(request.account)
    may_change = request.membership.has_permission(TeamPermission.MANAGE_DOMAINS)
    return _domains_page(request, DomainsForm.of(domains, is_editable=may_change), domains)


@require_permission(TeamPermission.MANAGE_DOMAINS, form_page=PAGE)
def save_domains(request: AccountRequest) -> HttpResponse:
    form = DomainsForm(request.POST)
    if form.is_valid():
        try:
            stored = replace_domains(
                actor=Actor.of_page(request),
                allowed=form.cleaned_data["allowed"],
                denied=form.cleaned_data["denied"],
                etags=[form.cleaned_data["etag"]],
            )
        except DomainsChanged:
            form.refuse_outdated(read_domains(request.account))
        else:
            messages.success(request, saved_message(stored))
            return redirect(PAGE)
    return _domains_page(request, form)


def _domains_page(
    request: AccountRequest, form: DomainsForm, domains: AccountDomains | None = None
) -> HttpResponse:
    context = {
        "form": form,
        "max_entries": MAX_ENTRIES,
        "overruled_note": overruled_note(domains) if domains else "",
        "who_may": who_has(TeamPermission.MANAGE_DOMAINS),
    }
    return render(request, "validation/show_domains.html", context)
