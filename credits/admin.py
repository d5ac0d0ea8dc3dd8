"""What staff see of credits and money, and what they do about it. Balances and ledger are to be
looked at; each act is a form whose service writes the books, the audit log and the mails."""

from contextlib import suppress
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import pluralize

from accounts import audit
from accounts import services as accounts
from accounts.admin import AccountAdmin, ReadOnlyAdmin, ReadOnlyInline
from accounts.models import Account
from credits import orders, plans, services
from credits.forms import AmountForm, ConfirmForm, PlanForm, ReasonForm
from credits.models import (
    LedgerEntry,
    Order,
    Pack,
    Plan,
    ProviderEvent,
    Subscription,
    UseDay,
    UseHour,
    Wallet,
)
from credits.money import in_words
from credits.payments import PaymentUnavailable, catch_up, method_of
from credits.staff import ActRefused, StaffAct, WithActs

SENT_BEFORE = "This form was sent before: nothing was done twice."
OF_ACCOUNT = ("account__name", "account__public_id", "account__memberships__user__email")


def _grant(account: Account, data: dict[str, Any], request: Any) -> str:
    done = services.grant(account=account, actor=request.user, ip=request.ip, **data)
    if not done:
        raise ActRefused(SENT_BEFORE)
    return f"Granted {services.in_words(data['amount'])}. {_now(account)}"


def _take_back(account: Account, data: dict[str, Any], request: Any) -> str:
    done = services.take_back(account=account, actor=request.user, ip=request.ip, **data)
    if not done:
        raise ActRefused(SENT_BEFORE)
    return f"Took back {services.in_words(data['amount'])}. {_now(account)}"


def _now(account: Account) -> str:
    wallet = Wallet.objects.get(account=account)
    debt = f" and the debt {wallet.debt:,}" if wallet.debt else ""
    return f"The balance is {wallet.balance:,}{debt}."


def _change_plan(account: Account, data: dict[str, Any], request: Any) -> str:
    plan, reason = data["plan"], data["reason"]
    try:
        plans.give_plan(
            account=account, plan=plan, reason=reason, actor=request.user, ip=request.ip
        )
    except plans.PlanRefused as refusal:
        raise ActRefused(str(refusal)) from refusal
    _tell_provider(account)
    return f"The plan is {plan}. No credits were granted."


def _suspend(account: Account, data: dict[str, Any], request: Any) -> str:
    accounts.suspend_account(account=account, actor=request.user, ip=request.ip)
    return "Suspended: its keys answer 403."


def _lift(account: Account, data: dict[str, Any], request: Any) -> str:
    accounts.lift_suspension(account=account, actor=request.user, ip=request.ip)
    return "No longer suspended."


def _mark_paid(order: Order, data: dict[str, Any], request: Any) -> str:
    if not orders.fulfil_order(order=order, actor=request.user, ip=request.ip):
        raise ActRefused(f"{order.number} was paid before: nothing was granted again.")
    return f"{order.number} is paid. {order.credits:,} credits are granted. {_now(order.account)}"


def _refund(order: Order, data: dict[str, Any], request: Any) -> str:
    reason = data["reason"]
    try:
        orders.refuse_refund(order)
    except orders.OrderRefused as refusal:
        raise ActRefused(str(refusal)) from refusal
    # The provider may tell us of it before this request goes on: who asked for it stands first.
    audit.record(
        order.account, request.user, "order.refund_asked", f"{order}: {reason}", request.ip
    )
    try:
        method_of(order).give_back(order)
    except PaymentUnavailable as trouble:
        raise ActRefused(str(trouble)) from trouble
    orders.refund_order(order=order, reason=reason, actor=request.user, ip=request.ip)
    _tell_provider(order.account)
    return f"{order.number} is refunded. {_now(order.account)}"


def _cancel(order: Order, data: dict[str, Any], request: Any) -> str:
    if not orders.cancel_order(order=order, actor=request.user, ip=request.ip):
        raise ActRefused(f"{order.number} does not wait for payment any more.")
    with suppress(PaymentUnavailable):
        method_of(order).withdraw(order)
    return f"{order.number} is cancelled."


def _tell_provider(account: Account) -> None:
    # What it could not be told now the day's work tells it.
    with suppress(PaymentUnavailable):
        catch_up(account)


class WalletInline(ReadOnlyInline):
    model = Wallet
    fields = ("balance", "debt", "low_balance_threshold", "usual_threshold")
    readonly_fields = fields


class SubscriptionInline(ReadOnlyInline):
    model = Subscription
    fields = ("plan", "next_plan", "started_on", "covered_until", "topped_up_until")
    readonly_fields = fields


class LatestInline(ReadOnlyInline):
    """The latest rows: all of them are in a list of their own."""

    SHOWN = 10

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        account = request.resolver_match.kwargs.get("object_id") if request.resolver_match else None
        latest = rows.filter(account=account).values_list("pk", flat=True)[: self.SHOWN]
        return rows.filter(pk__in=list(latest))


class OrderInline(LatestInline):
    model = Order
    verbose_name_plural = "latest orders"
    fields = ("number", "description", "state", "placed_at", "paid_at")
    readonly_fields = fields


class LedgerInline(LatestInline):
    model = LedgerEntry
    verbose_name_plural = "latest of the ledger"
    fields = ("at", "kind", "amount", "actor", "reason")
    readonly_fields = fields


admin.site.unregister(Account)


@admin.register(Account)
class CustomerAdmin(WithActs, AccountAdmin):
    """The account's page of floor 1, and its money."""

    list_display = ("name", "public_id", "state", "plan", "balance", "members", "created_at")
    list_filter = (*AccountAdmin.list_filter, "subscription__plan")
    list_select_related = ("wallet", "subscription__plan")
    inlines = (
        *AccountAdmin.inlines,
        WalletInline,
        SubscriptionInline,
        OrderInline,
        LedgerInline,
    )
    acts = (
        StaffAct(
            "grant",
            "Grant",
            "credits.grant_credits",
            AmountForm,
            "The credits are there at once; a debt is paid first.",
            _grant,
        ),
        StaffAct(
            "take-back",
            "Take back",
            "credits.take_back_credits",
            AmountForm,
            "What is left of them goes at once. What was spent already becomes a debt, which the "
            "next credits pay first.",
            _take_back,
        ),
        StaffAct(
            "change-plan",
            "Change plan",
            "credits.change_subscription",
            PlanForm,
            "At once, for a month that begins today, without credits: grant those beside. It "
            "renews by an order as any other plan. What is left of a paid month ends.",
            _change_plan,
        ),
        StaffAct(
            "suspend",
            "Suspend",
            "accounts.suspend_account",
            ConfirmForm,
            "Its keys answer 403 from the next request on, until the suspension is lifted.",
            _suspend,
            lambda account: account.suspended_at is None and account.is_open,
        ),
        StaffAct(
            "lift",
            "Lift the suspension",
            "accounts.suspend_account",
            ConfirmForm,
            "Its keys work again from the next request on.",
            _lift,
            lambda account: account.suspended_at is not None,
        ),
    )

    @admin.display(ordering="wallet__balance")
    def balance(self, account: Account) -> str:
        return f"{account.wallet.balance:,}"

    @admin.display(ordering="subscription__plan")
    def plan(self, account: Account) -> str:
        return str(account.subscription.plan)


@admin.register(Order)
class OrderAdmin(WithActs, ReadOnlyAdmin):
    list_display = ("number", "account", "description", "state", "total", "method", "placed_at")
    list_filter = ("state", "method", "kind", "placed_at")
    list_select_related = ("account",)
    search_fields = ("public_id", "invoice_number", "buyer_name", "provider_payment", *OF_ACCOUNT)
    search_help_text = "Number without INV-, ord_…, name on the invoice, account or e-mail"
    date_hierarchy = "placed_at"
    exclude = ("form_token", "provider_url")
    acts = (
        StaffAct(
            "mark-paid",
            "Mark paid",
            "credits.mark_paid_order",
            ConfirmForm,
            "The money is there: what was ordered is granted at once, and a receipt goes out.",
            _mark_paid,
            lambda order: order.state in (Order.State.PENDING, Order.State.CANCELLED),
        ),
        StaffAct(
            "refund",
            "Refund",
            "credits.refund_order",
            ReasonForm,
            "All that was paid is given back: by card at once, a transfer by you. The credits are "
            "taken; what was spent already becomes a debt. A plan ends.",
            _refund,
            lambda order: order.is_paid and order.total_cents > 0,
        ),
        StaffAct(
            "cancel",
            "Cancel",
            "credits.mark_paid_order",
            ConfirmForm,
            "Nothing is to be paid any more. A renewal is written anew unless the plan changes.",
            _cancel,
            lambda order: order.is_pending,
        ),
    )

    @admin.display(ordering="net_cents")
    def total(self, order: Order) -> str:
        return in_words(order.total_cents, order.currency)


@admin.register(LedgerEntry)
class LedgerAdmin(ReadOnlyAdmin):
    list_display = ("at", "account", "kind", "amount", "actor", "reason")
    list_filter = ("kind", "at")
    list_select_related = ("account",)
    search_fields = ("reason", "actor", "source", *OF_ACCOUNT)
    date_hierarchy = "at"


@admin.register(Wallet)
class WalletAdmin(ReadOnlyAdmin):
    list_display = ("account", "balance", "debt", "threshold")
    list_select_related = ("account",)
    search_fields = OF_ACCOUNT


@admin.register(Subscription)
class SubscriptionAdmin(ReadOnlyAdmin):
    list_display = ("account", "plan", "next_plan", "started_on", "covered_until")
    list_filter = ("plan", "covered_until")
    list_select_related = ("account", "plan", "next_plan")
    search_fields = OF_ACCOUNT


class UseAdmin(ReadOnlyAdmin):
    list_select_related = ("account", "key")
    list_filter = ("verdict",)
    search_fields = ("account__name", "account__public_id", "key__public_id")


@admin.register(UseHour)
class UseHourAdmin(UseAdmin):
    list_display = ("hour", "account", "key", "verdict", "calls", "credits")


@admin.register(UseDay)
class UseDayAdmin(UseAdmin):
    list_display = ("day", "account", "key", "verdict", "calls", "credits")


class CatalogueAdmin(admin.ModelAdmin[Any]):
    """What is sold. What was sold stays: a row is offered no longer, and never deleted."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not form.changed_data:
            return
        said = ", ".join(
            f"{name}: {form.initial.get(name, 'new')} → {form.cleaned_data[name]}"
            for name in form.changed_data
        )
        action = f"{obj._meta.model_name}.{'changed' if change else 'added'}_by_staff"
        audit.record(None, request.user, action, f"{obj}: {said}", request.ip)


@admin.register(Plan)
class PlanAdmin(CatalogueAdmin):
    list_display = (
        *("name", "code", "price_cents", "monthly_credits", "requests_per_minute"),
        "is_offered",
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Plan | None = None) -> tuple[str, ...]:
        """What back-end servers read stays; Free stays free."""
        if obj is None:
            return ()
        return ("code", "price_cents", "is_offered") if obj.is_free else ("code",)

    def save_model(self, request: Any, obj: Plan, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        new_terms = {"requests_per_minute", "monthly_credits"} & {*form.changed_data}
        concerned = plans.apply_new_terms(obj) if change and new_terms else 0
        if concerned:
            self.message_user(
                request,
                f"{concerned:,} account{pluralize(concerned)} on this plan: the limit changed at "
                "once; price and credits count from the next month.",
            )


@admin.register(Pack)
class PackAdmin(CatalogueAdmin):
    list_display = ("__str__", "price_cents", "requests_per_minute", "is_offered")


@admin.register(ProviderEvent)
class ProviderEventAdmin(ReadOnlyAdmin):
    list_display = ("at", "kind", "event_id")
    list_filter = ("kind", "at")
    search_fields = ("event_id",)
