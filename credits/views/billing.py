"""Billing: the balance, the plan and every movement. Everybody in the account may look."""

import re
from datetime import date
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts import audit
from accounts.permissions import form_on_page, require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from credits.forms import ThresholdForm
from credits.models import Subscription, Wallet
from credits.plans import sign_up_credits, subscriptions
from credits.wallet import statement

PAGE = "credits:show-billing"
SHOWN_MOVEMENTS = 5


@require_safe
@require_permission(TeamPermission.LOOK)
def show_billing(request: AccountRequest) -> HttpResponse:
    return _billing_page(request)


@form_on_page(PAGE)
@require_permission(TeamPermission.BUY)
def change_threshold(request: AccountRequest) -> HttpResponse:
    wallet = request.account.wallet
    form = ThresholdForm(wallet.usual_threshold, request.POST)
    if not form.is_valid():
        return _billing_page(request, form)
    threshold = form.cleaned_data["threshold"]
    target = "the plan's" if threshold is None else f"{threshold:,}"
    with transaction.atomic():
        Wallet.objects.filter(pk=wallet.pk).update(low_balance_threshold=threshold)
        audit.record(request.account, request.user, "threshold.changed", target, request.ip)
    messages.success(request, "Saved. The next charge is judged by it.")
    return redirect(PAGE)


@require_safe
@require_permission(TeamPermission.LOOK)
def show_ledger(request: AccountRequest) -> HttpResponse:
    """A month a page, with the balance before and after: a bank statement."""
    account, this_month = request.account, timezone.now().date().replace(day=1)
    oldest = account.created_at.date().replace(day=1)
    first = min(max(_month_in(request.GET.get("month", ""), this_month), oldest), this_month)
    context = {
        "month": statement.month_of(account, first),
        "before": statement.month_before(first) if first > oldest else None,
        "after": statement.next_month(first) if first < this_month else None,
        "wallet": account.wallet,
    }
    return render(request, "credits/show_ledger.html", context)


def _month_in(text: str, otherwise: date) -> date:
    found = re.fullmatch(r"(20\d\d)-(0[1-9]|1[0-2])", text)
    return date(int(found[1]), int(found[2]), 1) if found else otherwise


def _billing_page(request: AccountRequest, form: ThresholdForm | None = None) -> HttpResponse:
    account = request.account
    wallet = account.wallet
    subscription = Subscription.objects.select_related("account", "plan", "next_plan").get(
        account=account
    )
    coverage = subscriptions.coverage_of(account)
    month = statement.month_of(account, timezone.now().date().replace(day=1))
    threshold: dict[str, Any] = {"threshold": wallet.low_balance_threshold}
    context = {
        "wallet": wallet,
        "subscription": subscription,
        "coming": subscriptions.coming_change(subscription, coverage),
        "is_due": subscriptions.standing_of(subscription, coverage).is_due,
        "domain_without_credits": sign_up_credits.domain_without_credits(account),
        "days_left": statement.days_left(account, wallet.balance),
        "lines": month.lines[:SHOWN_MOVEMENTS],
        "waiting": account.orders.pending(),
        "form": form or ThresholdForm(wallet.usual_threshold, initial=threshold),
    }
    return render(request, "credits/show_billing.html", context)
