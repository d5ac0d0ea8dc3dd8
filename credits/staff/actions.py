"""Staff actions on accounts and grants.

Each action calls one service, and returns a message that says what happened.
"""

from collections.abc import Callable

from django.conf import settings

from accounts import services as accounts
from accounts.models import Account
from accounts.staff.request import StaffRequest
from credits import services
from credits.forms import AmountForm, ConfirmForm, PlanForm, SuspensionForm
from credits.models import StaffGrant
from credits.money import format_credits
from credits.payments import try_sync
from credits.plans import changes
from credits.staff import grants, previews
from credits.staff.action_admin import FormData, StaffAction, StaffActionRefused
from credits.staff.previews import Change, Preview

ALREADY_SENT = "This form was already submitted. Nothing was done twice."


def _grant(account: Account, data: FormData, request: StaffRequest) -> str:
    grant = grants.request_grant(account=account, actor=request.user, ip=request.ip, **data)
    if grant is None:
        raise StaffActionRefused(ALREADY_SENT)
    if grant.is_pending:
        return (
            f"Requested {format_credits(grant.amount)}. Ask a colleague to confirm the grant under "
            "Staff grants."
        )
    return f"Granted {format_credits(grant.amount)}. {previews.describe_balance(account)}"


def _confirm(grant: StaffGrant, data: FormData, request: StaffRequest) -> str:
    _decide(grants.confirm_grant, grant, request)
    return f"Granted {format_credits(grant.amount)}. {previews.describe_balance(grant.account)}"


def _reject(grant: StaffGrant, data: FormData, request: StaffRequest) -> str:
    _decide(grants.reject_grant, grant, request)
    return f"Rejected {grant}. Nothing was granted."


def _withdraw(grant: StaffGrant, data: FormData, request: StaffRequest) -> str:
    _decide(grants.withdraw_grant, grant, request)
    return f"Withdrew {grant}. Nothing was granted."


def _decide(decide: Callable[..., None], grant: StaffGrant, request: StaffRequest) -> None:
    try:
        decide(grant=grant, actor=request.user, ip=request.ip)
    except grants.GrantRefused as error:
        raise StaffActionRefused(str(error)) from error


def _deduct(account: Account, data: FormData, request: StaffRequest) -> str:
    if not services.deduct(account=account, actor=request.user, ip=request.ip, **data):
        raise StaffActionRefused(ALREADY_SENT)
    return f"Deducted {format_credits(data['amount'])}. {previews.describe_balance(account)}"


def _change_plan(account: Account, data: FormData, request: StaffRequest) -> str:
    plan, reason = data["plan"], data["reason"]
    try:
        changes.assign_plan(
            account=account, plan=plan, reason=reason, actor=request.user, ip=request.ip
        )
    except changes.PlanRefused as error:
        raise StaffActionRefused(str(error)) from error
    try_sync(account)
    return f"The plan is now {plan}. No credits were granted."


def _suspend(account: Account, data: FormData, request: StaffRequest) -> str:
    reason = data["reason"]
    accounts.suspend_account(account=account, actor=request.user, reason=reason, ip=request.ip)
    return "Suspended the account. Its API keys now return 403."


def _lift(account: Account, data: FormData, request: StaffRequest) -> str:
    accounts.lift_suspension(account=account, actor=request.user, ip=request.ip)
    return "Lifted the suspension. The account's API keys work again."


def _preview_grant(account: Account, data: FormData, request: StaffRequest) -> Preview:
    total = StaffGrant.objects.granted_alone(request.user) + data["amount"]
    if total > settings.STAFF_GRANT_LIMIT:
        note = "A second person has to confirm the grant. The balance changes then."
        return previews.preview_addition(account, data["amount"], note)
    return previews.preview_addition(account, data["amount"])


def _preview_state(account: Account, data: FormData, request: StaffRequest) -> Preview:
    before, after = "Open", "Suspended"
    if account.suspended_at is not None:
        before, after = after, before
    return Preview((Change("Account", before, after),))


def _preview_confirmation(grant: StaffGrant, data: FormData, request: StaffRequest) -> Preview:
    reason = f"Reason: {grant.reason}"
    return previews.preview_addition(grant.account, grant.amount, reason)


def _preview_nothing(grant: StaffGrant, data: FormData, request: StaffRequest) -> Preview:
    balance = f"{grant.account.wallet.balance:,}"
    return Preview((Change("Balance", balance, balance),))


def _is_pending(grant: StaffGrant) -> bool:
    return grant.is_pending


ACCOUNT_ACTIONS: tuple[StaffAction[Account], ...] = (
    StaffAction(
        "grant",
        "Grant credits",
        "credits.grant_credits",
        AmountForm,
        "Adds the credits immediately, and pays off a debt first. If you grant more than "
        f"{settings.STAFF_GRANT_LIMIT:,} credits in 24 hours, across all accounts, a second person "
        "has to confirm.",
        _grant,
        preview=_preview_grant,
        is_confirmed=True,
    ),
    StaffAction(
        "take-back",
        "Deduct credits",
        "credits.take_back_credits",
        AmountForm,
        "Deducts the credits immediately. What the balance doesn't cover cancels the holds of "
        "lists in progress, newest first. The rest becomes a debt, which new credits pay off "
        "first.",
        _deduct,
        preview=lambda account, data, _: previews.preview_deduction(account, data["amount"]),
        is_confirmed=True,
    ),
    StaffAction(
        "change-plan",
        "Change plan",
        "credits.change_subscription",
        PlanForm,
        "Starts a month of the plan today, and ends the current one. No credits are granted: use "
        "“Grant credits” for those. The plan renews with an order, like any other.",
        _change_plan,
        preview=lambda account, data, _: previews.preview_plan(account, data["plan"]),
        is_confirmed=True,
    ),
    StaffAction(
        "suspend",
        "Suspend",
        "accounts.suspend_account",
        SuspensionForm,
        "Its API keys return 403 from the next request on, until you lift the suspension.",
        _suspend,
        lambda account: account.suspended_at is None and account.is_open,
        preview=_preview_state,
    ),
    StaffAction(
        "lift",
        "Lift suspension",
        "accounts.suspend_account",
        ConfirmForm,
        "Its API keys work again from the next request on.",
        _lift,
        lambda account: account.suspended_at is not None,
        preview=_preview_state,
    ),
)
GRANT_ACTIONS: tuple[StaffAction[StaffGrant], ...] = (
    StaffAction(
        "confirm",
        "Confirm",
        "credits.grant_credits",
        ConfirmForm,
        "Adds the credits to the account immediately. Check the amount and the reason first.",
        _confirm,
        _is_pending,
        grants.refusal_to_confirm,
        preview=_preview_confirmation,
    ),
    StaffAction(
        "reject",
        "Reject",
        "credits.grant_credits",
        ConfirmForm,
        "Closes the request. Nothing is granted.",
        _reject,
        _is_pending,
        grants.refusal_to_reject,
        preview=_preview_nothing,
    ),
    StaffAction(
        "withdraw",
        "Withdraw",
        "credits.grant_credits",
        ConfirmForm,
        "Closes the request. Nothing is granted.",
        _withdraw,
        _is_pending,
        grants.refusal_to_withdraw,
        shows_refusal=False,
        preview=_preview_nothing,
    ),
)
