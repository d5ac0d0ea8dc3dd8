"""Order a pack or a plan: a quote, a form that carries its terms, and an order."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from credits.forms import OrderForm
from credits.models import Pack, Plan
from credits.orders import placement, quotes
from credits.payments import PaymentUnavailable, sync_with_provider
from credits.plans import changes, subscriptions, upcoming
from credits.plans.offers import OrderRefused
from credits.views.orders import allow_payment_page, redirect_to_payment
from runtime.http.refusals import Refused


@require_permission(TeamPermission.BUY)
def choose_pack(request: AccountRequest) -> HttpResponse:
    """Show the packs, or redirect to the one that covers `credits`."""
    credits = request.GET.get("credits", "")
    if credits.isdecimal() and (pack := Pack.objects.covering(int(credits[:10]))):
        query = urlencode({"next": request.GET.get("next", "")})
        return redirect(f"{reverse('credits:order-pack', args=[pack.public_id])}?{query}")
    context = {
        "packs": Pack.objects.offered(),
        "wallet": request.account.wallet,
        "limit": request.account.request_limit,
        "next": request.GET.get("next", ""),
    }
    return render(request, "credits/choose_pack.html", context)


@require_permission(TeamPermission.BUY, takes_post=True)
@allow_payment_page
def order_pack(request: AccountRequest, pack_id: str) -> HttpResponse:
    return _order(request, get_object_or_404(Pack.objects.offered(), public_id=pack_id))


@require_permission(TeamPermission.BUY)
def choose_plan(request: AccountRequest) -> HttpResponse:
    subscription = request.account.subscription
    coverage = subscriptions.load_coverage(request.account)
    offered = Plan.objects.offered() | Plan.objects.filter(pk=subscription.plan_id)
    context = {
        "plans": offered,
        "subscription": subscription,
        "coming": upcoming.upcoming_change(subscription, coverage),
        "is_due": subscriptions.current_status(subscription, coverage).is_due,
        "waiting": request.account.orders.pending().for_plans(),
    }
    return render(request, "credits/choose_plan.html", context)


@require_permission(TeamPermission.BUY, takes_post=True)
@allow_payment_page
def order_plan(request: AccountRequest, plan_code: str) -> HttpResponse:
    return _order(request, get_object_or_404(Plan.objects.offered(), code=plan_code))


@require_permission(TeamPermission.BUY, takes_post=True)
def choose_later_plan(request: AccountRequest, plan_code: str) -> HttpResponse:
    subscription = request.account.subscription
    available = Plan.objects.offered() | Plan.objects.filter(pk=subscription.plan_id)
    plan = get_object_or_404(available, code=plan_code)
    if plan.price_cents > subscription.plan.price_cents:
        return redirect("credits:order-plan", plan_code=plan.code)
    if plan == subscription.plan == subscription.next_plan:
        messages.info(request, f"You're already on {plan}.")
        return redirect("credits:choose-plan")
    if request.method == "POST":
        _schedule_plan(request, plan)
        return redirect("credits:choose-plan")
    context = {"plan": plan, "subscription": subscription}
    return render(request, "credits/choose_later_plan.html", context)


def _schedule_plan(request: AccountRequest, plan: Plan) -> None:
    account, previous = request.account, request.account.subscription.plan
    try:
        changes.schedule_plan(account=account, plan=plan, actor=request.user)
        sync_with_provider(account)
    except PaymentUnavailable:
        messages.success(
            request,
            f"Saved {plan} as your next plan. We'll update your card payments once the payment "
            "service is available again.",
        )
    except Refused as error:
        messages.error(request, str(error))
    else:
        is_kept = plan == previous
        messages.success(
            request, f"You keep {plan}." if is_kept else "Plan change saved. You keep your credits."
        )


def _order(request: AccountRequest, item: Pack | Plan) -> HttpResponse:
    """Show the quote. Order it if the posted form carries the same terms."""
    try:
        quote = quotes.quote(request.account, item)
    except OrderRefused as error:
        messages.error(request, str(error))
        return redirect("credits:choose-plan")
    form = OrderForm(quote, quotes.last_buyer(request.account), request.POST or None)
    if not form.is_valid():
        context = {"quote": form.quote, "form": form}
        return render(request, "credits/place_order.html", context)
    try:
        order = placement.place_order(
            quote=form.quote,
            buyer=form.buyer(),
            actor=request.user,
            form_token=form.cleaned_data["form_token"],
            saves_card=form.cleaned_data.get("save_card", False),
        )
    except OrderRefused as error:
        messages.error(request, str(error))
        return redirect(request.path)
    if url_has_allowed_host_and_scheme(page := request.GET.get("next", ""), allowed_hosts=None):
        request.session[order.public_id] = page
    for old_order in form.quote.replaced:
        messages.info(request, f"Canceled {old_order}. This order replaces it.")
    return redirect_to_payment(request, order)
