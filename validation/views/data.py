from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from accounts.services import change_log_days as change_days
from validation.erasure import count_rows, parse_and_mask
from validation.erasure import erase_address as erase
from validation.forms import AddressForm, LogDaysForm
from validation.presenters.retention import erasure_summary

PAGE = "validation:show-data"


@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_data(request: AccountRequest) -> HttpResponse:
    return _data_page(request)


@require_permission(TeamPermission.MANAGE_DATA, form_page=PAGE)
def change_log_days(request: AccountRequest) -> HttpResponse:
    form = LogDaysForm(request.account, request.POST)
    if not form.is_valid():
        return _data_page(request, days_form=form)
    days = form.cleaned_data["log_days"]
    change_days(account=request.account, days=days, actor=request.user)
    messages.success(request, "Request retention saved.")
    return redirect(PAGE)


@require_permission(TeamPermission.MANAGE_DATA, form_page=PAGE)
def confirm_erasure(request: AccountRequest) -> HttpResponse:
    """A form keeps the address out of the URL."""
    form = AddressForm(request.POST)
    if not form.is_valid():
        return _data_page(request, address_form=form)
    email = form.cleaned_data["email"]
    rows = count_rows(email=email, account=request.account)
    summary = erasure_summary(request.account, rows)
    context = {"email": email, "rows": rows, "summary": summary}
    return render(request, "validation/confirm_erasure.html", context)


@require_permission(TeamPermission.MANAGE_DATA, form_page=PAGE)
def erase_address(request: AccountRequest) -> HttpResponse:
    form = AddressForm(request.POST)
    if not form.is_valid():
        return _data_page(request, address_form=form)
    email = form.cleaned_data["email"]
    erase(email=email, account=request.account, actor=request.user)
    messages.success(request, f"Erased {parse_and_mask(email)}.")
    return redirect(PAGE)


def _data_page(
    request: AccountRequest,
    days_form: LogDaysForm | None = None,
    address_form: AddressForm | None = None,
) -> HttpResponse:
    context = {
        "log_days": request.account.log_retention_days,
        "result_hours": settings.RESULT_RETENTION_HOURS,
        "list_days": settings.LIST_RETENTION_DAYS,
        "mailbox_checks": settings.PROBE_MAILBOX_CHECKS,
        "days_form": days_form or LogDaysForm(request.account),
        "address_form": address_form or AddressForm(),
    }
    return render(request, "validation/show_data.html", context)
