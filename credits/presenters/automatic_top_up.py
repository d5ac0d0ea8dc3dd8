from dataclasses import dataclass, field

from django.urls import reverse
from django.utils import timezone

from accounts.date_display import date_format
from accounts.presenters.elements import Badge
from credits.automatic_top_ups.rules import Costs
from credits.models import AutomaticTopUp, SavedCard, Subscription
from credits.money import format_money

Pause, Off = AutomaticTopUp.Pause, AutomaticTopUp.Off

WHAT_IT_DOES = "Buys a pack with your saved card when the balance falls below a threshold."


@dataclass(frozen=True)
class BillingAction:
    text: str
    url: str


@dataclass(frozen=True)
class BillingRow:
    title: str
    badge: Badge | None
    lines: list[str]
    actions: list[BillingAction] = field(default_factory=list)
    # Submitted without a confirmation page.
    post: BillingAction | None = None
    danger: BillingAction | None = None


def card_row(card: SavedCard | None, *, is_returning: bool = False) -> BillingRow:
    """Describe the card. `is_returning`: from the page that saves a card."""
    save = reverse("credits:save-card")
    if card is None:
        note = "Save a card for automatic top-up. Stripe stores it, and we never see its number."
        if is_returning:
            note = "Your card appears here once Stripe confirms it, usually within seconds."
        return BillingRow("No saved card", None, [note], [BillingAction("Add card", save)])
    badge = Badge("Expired", "risky", "triangle-alert") if card.is_expired else None
    return BillingRow(
        str(card),
        badge,
        [f"{'Expired' if card.is_expired else 'Expires'} {card.expires}"],
        [BillingAction("Replace card", save)],
        danger=BillingAction("Remove card", reverse("credits:remove-card")),
    )


def top_up_row(top_up: AutomaticTopUp | None, costs: Costs | None, *, has_card: bool) -> BillingRow:
    edit = reverse("credits:edit-automatic-top-up")
    title = "Automatic top-up"
    if top_up is None or costs is None or not top_up.is_on:
        lines = [_why_off(top_up) or WHAT_IT_DOES]
        if not has_card:
            return BillingRow(title, Badge("Off"), [*lines, "Add a card to use it."])
        return BillingRow(title, Badge("Off"), lines, [BillingAction("Set up", edit)])
    actions = [BillingAction("Change", edit)]
    off = BillingAction("Switch off", reverse("credits:switch-off-automatic-top-up"))
    if costs.obstacle is not None:
        badge = Badge("Paused", "risky", "triangle-alert")
        lines = [_why_paused(costs.obstacle), describe_top_up(top_up, costs)]
        return BillingRow(title, badge, lines, actions, post=off)
    badge = Badge("On", "deliverable", "circle-check")
    lines = [describe_top_up(top_up, costs)]
    if top_up.failures:
        lines.append("The last payment failed. After another failure, we'll switch it off.")
    return BillingRow(title, badge, lines, actions, post=off)


def describe_top_up(top_up: AutomaticTopUp, costs: Costs) -> str:
    price = f" for {_money(costs.price_cents, top_up)}" if costs.price_cents is not None else ""
    cap, spent = _money(top_up.cap_cents, top_up), _money(costs.spent_cents, top_up)
    return (
        f"Buys {top_up.pack}{price} when the balance falls below "
        f"{top_up.threshold:,}, at most {cap} per month. "
        f"{spent} used in {timezone.now():%B} (UTC)."
    )


def consequences_of_removal(subscription: Subscription, top_up: AutomaticTopUp | None) -> list[str]:
    consequences = []
    if subscription.renews_automatically:
        consequences.append(
            f"Your {subscription.plan} plan can't renew with this card. If its payment fails, the "
            "plan becomes Free."
        )
    if top_up is not None and top_up.is_on:
        consequences.append("Automatic top-up is paused until you add another card.")
    consequences.append("We also remove it from Stripe. Past orders and invoices stay.")
    return consequences


def _why_paused(obstacle: AutomaticTopUp.Pause) -> str:
    return {
        Pause.NO_CARD: "No card is saved. Add a card to continue.",
        Pause.PACK_GONE: "The pack is no longer offered. Choose another one to continue.",
        Pause.CURRENCY: "Our prices are in another currency now. Enter a new monthly cap.",
        Pause.PRICE: "The pack costs more than your monthly cap. Raise the cap to continue.",
        Pause.CAP: "Another pack would exceed your monthly cap. Raise the cap, or wait until next "
        "month.",
    }[obstacle]


def _why_off(top_up: AutomaticTopUp | None) -> str:
    """Return why it is off, or nothing if a member switched it off."""
    if top_up is None or not top_up.off_for or top_up.off_at is None:
        return ""
    reason = {
        Off.FAILURES: "because two payments in a row failed. Check your card before you switch it "
        "on again.",
        Off.REFUND: "because one of its orders was refunded.",
        Off.DISPUTE: "because the payment of one of its orders was disputed.",
        Off.CLOSED: "because the account was closed.",
    }.get(Off(top_up.off_for))
    return f"Switched off on {date_format(top_up.off_at)} {reason}" if reason else ""


def _money(cents: int, top_up: AutomaticTopUp) -> str:
    return format_money(cents, top_up.currency)
