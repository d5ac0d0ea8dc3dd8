import re
from datetime import date

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts import audit
from accounts.models import Account
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from credits.automatic_top_ups.rules import look_up_costs
from credits.forms import ThresholdForm
from credits.models import AutomaticTopUp, SavedCard, Subscription, Wallet
from credits.orders.quotes import price_with_tax
from credits.plans import sign_up_credits, subscriptions
from credits.plans.upcoming import next_grant, upcoming_change
from credits.presenters.automatic_top_up import BillingRow, card_row, top_up_row
from credits.presenters.balance import balance_warning, forecast, held_note, summarize_month
from credits.presenters.plans import included_credits, next_dates
from credits.presenters.spending import build_spending_chart
from credits.wallet import statement
from runtime.dates import next_month, previous_month

PAGE = "credits:show-billing"
MAX_LINES = 5


@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_billing(request: AccountRequest) -> HttpResponse:
    return _render_billing(request)


@require_permission(TeamPermission.BUY, form_page=PAGE)
def change_threshold(request: AccountRequest) -> HttpResponse:
    wallet = request.account.wallet
    form = ThresholdForm(wallet.usual_threshold, request.POST)
    if not form.is_valid():
        return _render_billing(request, form)
    threshold = form.cleaned_data["threshold"]
    target = "the plan's default" if threshold is None else f"{threshold:,}"
    with transaction.atomic():
        Wallet.objects.filter(pk=wallet.pk).update(low_balance_threshold=threshold)
        audit.record(request.account, request.user, "threshold.changed", target)
    messages.success(request, "Saved your low-balance threshold.")
    return redirect(PAGE)


@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_ledger(request: AccountRequest) -> HttpResponse:
    account, this_month = request.account, timezone.now().date().replace(day=1)
    oldest = account.created_at.date().replace(day=1)
    match = re.fullmatch(r"(20\d\d)-(0[1-9]|1[0-2])", request.GET.get("month", ""))
    first = date(int(match[1]), int(match[2]), 1) if match else this_month
    first = min(max(first, oldest), this_month)
    month = statement.monthly_statement(account, first)
    context = {
        "month": month,
        "summary": summarize_month(month, is_over=first < this_month, held=account.wallet.held),
        "before": previous_month(first) if first > oldest else None,
        "after": next_month(first) if first < this_month else None,
    }
    return render(request, "credits/show_ledger.html", context)


def _render_billing(request: AccountRequest, form: ThresholdForm | None = None) -> HttpResponse:
    account = request.account
    wallet = account.wallet
    subscription = Subscription.objects.with_plans().get(account=account)
    coverage = subscriptions.load_coverage(account)
    month = statement.monthly_statement(account, timezone.now().date().replace(day=1))
    threshold = {"threshold": wallet.low_balance_threshold}
    change = upcoming_change(subscription, coverage)
    is_due = subscriptions.current_status(subscription, coverage).is_due
    context: dict[str, object] = {
        "wallet": wallet,
        "warning": balance_warning(wallet),
        "forecast": forecast(wallet, next_grant(subscription)[1]),
        "held_note": held_note(wallet.held),
        "plan": subscription.plan,
        "subscription": subscription,
        "renewal_cents": price_with_tax(account, subscription.next_plan),
        "currency": settings.CURRENCY,
        "spending": build_spending_chart(account, timezone.now().date()),
        "included_credits": included_credits(subscription),
        "next_dates": next_dates(subscription, change, is_due=is_due),
        "domain_without_credits": sign_up_credits.domain_without_credits(account),
        "lines": month.lines[:MAX_LINES],
        # Orders of automatic top-up need nothing from the customer.
        "waiting": account.orders.pending().filter(paying_top_up=None),
        "form": form or ThresholdForm(wallet.usual_threshold, initial=threshold),
    }
    if settings.STRIPE_SECRET_KEY:
        is_returning = request.GET.get("card") == "saved"
        context["payment_rows"] = _payment_rows(account, is_returning=is_returning)
    return render(request, "credits/show_billing.html", context)


def _payment_rows(account: Account, *, is_returning: bool) -> list[BillingRow]:
    card = SavedCard.objects.filter(account=account).first()
    top_up = AutomaticTopUp.objects.select_related("pack").filter(account=account).first()
    costs = look_up_costs(top_up) if top_up is not None and top_up.is_on else None
    return [
        card_row(card, is_returning=is_returning),
        top_up_row(top_up, costs, has_card=card is not None),
    ]
