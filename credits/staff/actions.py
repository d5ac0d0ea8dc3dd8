from typing import ClassVar

from django.conf import settings

from accounts import services as accounts
from accounts.models import Account, User
from credits import services
from credits.models import GrantState, StaffGrant, Wallet
from credits.money import format_credits
from credits.payments import try_sync
from credits.plans import changes
from credits.staff import grants
from credits.staff.action_admin import FormData, StaffAction
from credits.staff.forms import AmountForm, PlanForm, SuspensionForm
from credits.staff.previews import (
    ActionPreview,
    Change,
    describe_balance,
    preview_deduction,
    preview_wallet,
)
from runtime.http.refusals import Refused

ALREADY_SENT = "This form was already submitted. Nothing was done twice."


class GrantCredits(StaffAction[Account]):
    slug, label = "grant", "Grant credits"
    permission = "credits.grant_credits"
    description = (
        "Adds the credits immediately, and pays off a debt first. If you grant more than "
        f"{settings.STAFF_GRANT_LIMIT:,} credits in 24 hours, across all accounts, a second person "
        "has to confirm."
    )
    form, has_preview = AmountForm, True

    def run(self, row: Account, data: FormData, actor: User) -> str:
        grant = grants.request_grant(account=row, actor=actor, **data)
        if grant is None:
            raise Refused(ALREADY_SENT)
        if grant.is_pending:
            return (
                f"Requested {format_credits(grant.amount)}. Ask a colleague to confirm the grant "
                "under Staff grants."
            )
        return f"Granted {format_credits(grant.amount)}. {describe_balance(row)}"

    def preview(self, row: Account, data: FormData, actor: User) -> ActionPreview:
        wallet, amount = Wallet.objects.get(account=row), data["amount"]
        debt = max(0, wallet.debt - amount)
        balance = wallet.balance + amount - (wallet.debt - debt)
        changes, notes = preview_wallet(wallet, balance, wallet.held, debt), []
        if StaffGrant.objects.granted_alone(actor) + amount > settings.STAFF_GRANT_LIMIT:
            notes = ["A second person has to confirm the grant. The balance changes then."]
        return ActionPreview(changes, tuple(notes))


class DeductCredits(StaffAction[Account]):
    slug, label = "deduct", "Deduct credits"
    permission = "credits.deduct_credits"
    description = (
        "Deducts the credits immediately. What the balance doesn't cover cancels the holds of "
        "lists in progress, newest first. The rest becomes a debt, which new credits pay off first."
    )
    form, has_preview = AmountForm, True

    def run(self, row: Account, data: FormData, actor: User) -> str:
        if not services.deduct(account=row, actor=actor, **data):
            raise Refused(ALREADY_SENT)
        return f"Deducted {format_credits(data['amount'])}. {describe_balance(row)}"

    def preview(self, row: Account, data: FormData, actor: User) -> ActionPreview:
        return preview_deduction(row, data["amount"])


class ChangePlan(StaffAction[Account]):
    slug, label = "change-plan", "Change plan"
    permission = "credits.change_subscription"
    description = (
        "Starts a month of the plan today, and ends the current one. No credits are granted: use "
        "“Grant credits” for those. The plan renews with an order, like any other."
    )
    form, has_preview = PlanForm, True

    def run(self, row: Account, data: FormData, actor: User) -> str:
        plan, reason = data["plan"], data["reason"]
        changes.assign_plan(account=row, plan=plan, reason=reason, actor=actor)
        try_sync(row)
        return f"The plan is now {plan}. No credits were granted."

    def preview(self, row: Account, data: FormData, actor: User) -> ActionPreview:
        change = Change("Plan", str(row.subscription.plan), str(data["plan"]))
        note = "A month of the plan starts today. No credits are granted."
        return ActionPreview((change,), (note,))


class Suspend(StaffAction[Account]):
    slug, label = "suspend", "Suspend"
    permission = "accounts.suspend_account"
    description = "Its API keys return 403 from the next request on, until you lift the suspension."
    form = SuspensionForm

    def is_available(self, row: Account) -> bool:
        return row.suspended_at is None and row.is_open

    def run(self, row: Account, data: FormData, actor: User) -> str:
        accounts.suspend_account(account=row, actor=actor, reason=data["reason"])
        return "Suspended the account. Its API keys now return 403."


class LiftSuspension(StaffAction[Account]):
    slug, label = "lift", "Lift suspension"
    permission = "accounts.suspend_account"
    description = "Its API keys work again from the next request on."

    def is_available(self, row: Account) -> bool:
        return row.suspended_at is not None

    def run(self, row: Account, data: FormData, actor: User) -> str:
        accounts.lift_suspension(account=row, actor=actor)
        return "Lifted the suspension. The account's API keys work again."


class GrantDecision(StaffAction[StaffGrant]):
    permission = "credits.grant_credits"
    state: ClassVar[GrantState]
    verb: ClassVar[str]

    def is_available(self, row: StaffGrant) -> bool:
        return row.is_pending

    def refusal(self, row: StaffGrant, user: User) -> str:
        return grants.find_refusal(row, self.state, user)

    def run(self, row: StaffGrant, data: FormData, actor: User) -> str:
        grants.decide(grant=row, state=self.state, actor=actor)
        return f"{self.verb} {row}. Nothing was granted."


class ConfirmGrant(GrantDecision):
    slug, label, state, verb = "confirm", "Confirm", GrantState.CONFIRMED, "Confirmed"
    description = (
        "Adds the credits to the account immediately. Check the amount and the reason first."
    )

    def run(self, row: StaffGrant, data: FormData, actor: User) -> str:
        super().run(row, data, actor)
        return f"Granted {format_credits(row.amount)}. {describe_balance(row.account)}"


class RejectGrant(GrantDecision):
    slug, label, state, verb = "reject", "Reject", GrantState.REJECTED, "Rejected"
    description = "Closes the request. Nothing is granted."


class WithdrawGrant(GrantDecision):
    slug, label, state, verb = "withdraw", "Withdraw", GrantState.WITHDRAWN, "Withdrew"
    description = RejectGrant.description
    shows_refusal = False


ACCOUNT_ACTIONS: tuple[StaffAction[Account], ...] = (
    GrantCredits(),
    DeductCredits(),
    ChangePlan(),
    Suspend(),
    LiftSuspension(),
)
GRANT_ACTIONS: tuple[StaffAction[StaffGrant], ...] = (
    ConfirmGrant(),
    RejectGrant(),
    WithdrawGrant(),
)
