"""Settings → Data: what is kept of the addresses that were validated, how long, and how it goes."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts.permissions import form_on_page, require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from accounts.services import change_log_days as change_days
from validation.forms import AddressForm, LogDaysForm
from validation.request_log.erasure import count_rows, masked_address
from validation.request_log.erasure import erase_address as erase

PAGE = "validation:show-data"


@require_safe
@require_permission(TeamPermission.LOOK)
def show_data(request: AccountRequest) -> HttpResponse:
    return _data_page(request)


@form_on_page(PAGE)
@require_permission(TeamPermission.MANAGE_DATA)
def change_log_days(request: AccountRequest) -> HttpResponse:
    form = LogDaysForm(request.account, request.POST)
    if not form.is_valid():
        return _data_page(request, days_form=form)
    days = form.cleaned_data["log_days"]
    change_days(account=request.account, days=days, actor=request.user, ip=request.ip)
    messages.success(request, "How long requests are kept is saved.")
    return redirect(PAGE)


@form_on_page(PAGE)
@require_permission(TeamPermission.MANAGE_DATA)
def confirm_erasure(request: AccountRequest) -> HttpResponse:
    """Says what would go. The address is only ever in a form, never in an address of ours."""
    form = AddressForm(request.POST)
    if not form.is_valid():
        return _data_page(request, address_form=form)
    email = form.cleaned_data["email"]
    context = {"email": email, "found": count_rows(email=email, account=request.account)}
    return render(request, "validation/confirm_erasure.html", context)


@form_on_page(PAGE)
@require_permission(TeamPermission.MANAGE_DATA)
def erase_address(request: AccountRequest) -> HttpResponse:
    form = AddressForm(request.POST)
    if not form.is_valid():
        return _data_page(request, address_form=form)
    email = form.cleaned_data["email"]
    erase(email=email, account=request.account, actor=request.user, ip=request.ip)
    messages.success(request, f"{masked_address(email)} is erased from log and answers.")
    return redirect(PAGE)


def _data_page(
    request: AccountRequest,
    days_form: LogDaysForm | None = None,
    address_form: AddressForm | None = None,
) -> HttpResponse:
    context = {
        "days": request.account.kept_log_days,
        "days_form": days_form or LogDaysForm(request.account),
        "address_form": address_form or AddressForm(),
    }
    return render(request, "validation/show_data.html", context)
