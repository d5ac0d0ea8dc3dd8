from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from accounts import audit
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from credits.automatic_top_ups import services
from credits.automatic_top_ups.forms import AutomaticTopUpForm
from credits.models import CARD_CONSENT, AutomaticTopUp, SavedCard
from credits.payments import cards, open_card_page
from credits.presenters.automatic_top_up import consequences_of_removal
from credits.views.orders import allow_payment_page
from runtime.http.refusals import show_refusal

BILLING = "credits:show-billing"

View = Callable[[AccountRequest], HttpResponse]


def require_card_payments(view: View) -> View:
    @wraps(view)
    def guarded(request: AccountRequest) -> HttpResponse:
        if not settings.STRIPE_SECRET_KEY:
            raise Http404
        return view(request)

    return guarded


@require_permission(TeamPermission.BUY, takes_post=True)
@require_card_payments
@allow_payment_page
def save_card(request: AccountRequest) -> HttpResponse:
    """Ask for consent, and redirect to Stripe, where the card is entered."""
    account = request.account
    if request.method == "POST":
        with show_refusal(request):
            page_url = open_card_page(account)
            audit.record(account, request.user, "card.agreed", CARD_CONSENT)
            return redirect(page_url)
    card = SavedCard.objects.filter(account=account).first()
    return render(request, "credits/save_card.html", {"card": card, "consent": CARD_CONSENT})


@require_permission(TeamPermission.BUY, takes_post=True)
@require_card_payments
def remove_card(request: AccountRequest) -> HttpResponse:
    account = request.account
    card = SavedCard.objects.filter(account=account).first()
    if card is None:
        messages.info(request, "No card is saved.")
        return redirect(BILLING)
    if request.method == "POST":
        cards.remove_card(account=account, actor=request.user)
        messages.success(request, f"Removed {card}.")
        return redirect(BILLING)
    top_up = AutomaticTopUp.objects.filter(account=account).first()
    consequences = consequences_of_removal(account.subscription, top_up)
    context = {"card": card, "consequences": consequences}
    return render(request, "credits/remove_card.html", context)


@require_permission(TeamPermission.BUY, takes_post=True)
@require_card_payments
def edit_automatic_top_up(request: AccountRequest) -> HttpResponse:
    account = request.account
    card = SavedCard.objects.filter(account=account).first()
    if card is None:
        messages.info(request, "Save a card first. Automatic top-up pays with it.")
        return redirect("credits:save-card")
    top_up = AutomaticTopUp.objects.select_related("pack").filter(account=account).first()
    form = AutomaticTopUpForm(account, top_up, request.POST or None)
    if form.is_valid():
        with show_refusal(request):
            services.switch_on(account=account, actor=request.user, **form.cleaned_data)
            messages.success(request, "Automatic top-up is on.")
        return redirect(BILLING)
    context = {"form": form, "card": card, "is_on": top_up is not None and top_up.is_on}
    return render(request, "credits/edit_automatic_top_up.html", context)


@require_permission(TeamPermission.BUY, form_page=BILLING)
@require_card_payments
def switch_off_automatic_top_up(request: AccountRequest) -> HttpResponse:
    reason = AutomaticTopUp.Off.MEMBER
    services.switch_off(account=request.account, reason=reason, actor=request.user)
    messages.success(request, "Automatic top-up is off.")
    return redirect(BILLING)
