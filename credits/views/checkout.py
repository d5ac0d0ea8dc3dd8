"""Choosing a pack or a plan, and ordering it. What it costs is read from our rows, never from the
form."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import Account
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from credits.forms import ConfirmForm, OrderForm
from credits.models import Order, Pack, Plan
from credits.money import with_tax
from credits.orders import lifecycle
from credits.payments import PaymentUnavailable, method_of, sync_with_provider
from credits.plans import offers, subscriptions
from credits.plans.offers import OrderRefused


@require_safe
@require_permission(TeamPermission.BUY)
def choose_pack(request: AccountRequest) -> HttpResponse:
    context = {
        "packs": Pack.objects.offered(),
        "wallet": request.account.wallet,
        "limit": request.account.request_limit,
    }
    return render(request, "credits/choose_pack.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@require_permission(TeamPermission.BUY)
def order_pack(request: AccountRequest, pack_id: str) -> HttpResponse:
    return _order(request, get_object_or_404(Pack.objects.offered(), public_id=pack_id))


@require_safe
@require_permission(TeamPermission.BUY)
def choose_plan(request: AccountRequest) -> HttpResponse:
    subscription = request.account.subscription
    coverage = subscriptions.coverage_of(request.account)
    offered = Plan.objects.offered() | Plan.objects.filter(pk=subscription.plan_id)
    context = {
        "plans": offered,
        "subscription": subscription,
        "coming": subscriptions.coming_change(subscription, coverage),
        "is_due": subscriptions.standing_of(subscription, coverage).is_due,
        "waiting": request.account.orders.pending().of_plans(),
    }
    return render(request, "credits/choose_plan.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@require_permission(TeamPermission.BUY)
def order_plan(request: AccountRequest, plan_code: str) -> HttpResponse:
    return _order(request, get_object_or_404(Plan.objects.offered(), code=plan_code))


@require_http_methods(["GET", "HEAD", "POST"])
@require_permission(TeamPermission.BUY)
def choose_later_plan(request: AccountRequest, plan_code: str) -> HttpResponse:
    """For the time after what is paid for: a lower plan, or after all the one there is."""
    subscription = request.account.subscription
    known = Plan.objects.offered() | Plan.objects.filter(pk=subscription.plan_id)
    plan = get_object_or_404(known, code=plan_code)
    if plan.price_cents > subscription.plan.price_cents:
        return redirect("credits:order-plan", plan_code=plan.code)
    if plan == subscription.plan == subscription.next_plan:
        messages.info(request, f"You have {plan} already, and keep it.")
        return redirect("credits:choose-plan")
    form = ConfirmForm(request.POST or None)
    if form.is_valid():
        _choose(request, plan)
        return redirect("credits:choose-plan")
    context = {"plan": plan, "subscription": subscription, "form": form}
    return render(request, "credits/choose_later_plan.html", context)


def _choose(request: AccountRequest, plan: Plan) -> None:
    account = request.account
    try:
        chosen = subscriptions.choose_plan(
            account=account, plan=plan, actor=request.user, ip=request.ip
        )
        sync_with_provider(account)
    except subscriptions.PlanRefused as refusal:
        messages.error(request, str(refusal))
    except PaymentUnavailable:
        messages.success(
            request, f"{plan} is noted. The payment service is told as soon as it answers again."
        )
    else:
        until = chosen.covered_until
        when = f"after what is paid for, on {until:%d %b %Y}" if until else "from now on"
        messages.success(request, f"Saved: your plan is {plan} {when}. Your credits stay.")


def _order(request: AccountRequest, item: Pack | Plan) -> HttpResponse:
    account = request.account
    try:
        offer = offers.make_offer(item, account.subscription)
    except OrderRefused as refusal:
        messages.error(request, str(refusal))
        return redirect("credits:choose-plan")
    last = lifecycle.last_buyer(account)
    replaced = _would_be_replaced(account, item)
    form = OrderForm(
        request.POST or None,
        initial={"name": last.name, "address": last.address, "tax_id": last.tax_id},
    )
    if form.is_valid():
        try:
            order = lifecycle.start_order(
                account=account,
                item=item,
                buyer=form.buyer(),
                actor=request.user,
                form_token=form.cleaned_data["form_token"],
                ip=request.ip,
            )
        except OrderRefused as refusal:
            form.add_error(None, str(refusal))
        else:
            for former in replaced:
                messages.info(request, f"{former} is cancelled: this order takes its place.")
            return _led_to_payment(request, order)
    context = {
        "item": item,
        "offer": offer,
        "amount": with_tax(offer.net_cents, offers.tax_rate()),
        "tax_rate": offers.tax_rate(),
        "method": offers.method_in_use(),
        "form": form,
        "replaced": replaced,
    }
    return render(request, "credits/place_order.html", context)


def _would_be_replaced(account: Account, item: Pack | Plan) -> list[Order]:
    """Of plans that were ordered and not paid only the last one waits."""
    if isinstance(item, Pack):
        return []
    waiting = account.orders.pending().filter(kind__in=(Order.Kind.PLAN, Order.Kind.UPGRADE))
    return list(waiting.exclude(plan=item))


def _led_to_payment(request: AccountRequest, order: Order) -> HttpResponse:
    try:
        if order.is_pending:
            method_of(order).begin(order)
    except PaymentUnavailable as trouble:
        messages.error(request, str(trouble))
    return redirect("credits:show-order", order_id=order.public_id)
