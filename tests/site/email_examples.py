"""An example of every email of the product, by template. Each is queued as the product does it."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

from django.utils import timezone

from accounts import emails, team
from accounts.models import Account, DisabledReason, User, WebhookEndpoint
from accounts.roles import Role
from apikeys import emails as key_emails
from apikeys.credit_limits import CreditUse
from apikeys.models import ApiKey
from apikeys.services import create_key
from credits import emails as credit_emails
from credits.models import AutomaticOrder, Order, OrderKind, Pack, Plan
from credits.orders.fulfillment import fulfill_order
from credits.orders.placement import place_order
from credits.orders.quotes import Buyer, quote
from credits.orders.refunds import refund_order
from lists import emails as list_emails
from lists.models import AddressList
from lists.models.states import ListState
from reference.landing.opt_out import queue_opt_out
from runtime.mail.outbox import Mail
from tests.validation.feedback.factory import make_feedback
from validation.feedback.emails import queue_feedback_answered

MOMENT = datetime(2026, 11, 3, 9, 5, tzinfo=UTC)
# As allauth adds it to its notices.
NOTICE = {"timestamp": MOMENT, "ip": "203.0.113.7", "user_agent": "Mozilla/5.0"}
NOTICES: dict[str, dict[str, Any]] = {
    "account/email/email_changed": {"from_email": "jo@a.example", "to_email": "jo@b.example"},
    "account/email/email_confirm": {"confirmed_email": "jo@b.example"},
    "account/email/email_deleted": {"deleted_email": "jo@a.example"},
    "account/email/password_changed": {},
    "account/email/password_reset": {},
    "account/email/password_set": {},
    "mfa/email/recovery_codes_generated": {},
    "mfa/email/totp_activated": {},
    "mfa/email/totp_deactivated": {},
    "mfa/email/webauthn_added": {},
    "mfa/email/webauthn_removed": {},
    "socialaccount/email/account_connected": {"provider": "Google"},
    "socialaccount/email/account_disconnected": {"provider": "Google"},
}


class Examples:
    """Queues the emails to an owner whose account has bought 10,000 credits."""

    def __init__(self, owner: User, account: Account) -> None:
        self.owner, self.account, self.to = owner, account, owner.email

    def queue(self, template: str) -> Mail:
        """Queue the example of this template, and return it."""
        self.examples()[template]()
        return Mail.objects.filter(to=self.to).latest("pk")

    def examples(self) -> dict[str, Callable[[], object]]:
        return {**self._sign_in(), **self._accounts(), **self._credits(), **self._others()}

    def _sign_in(self) -> dict[str, Callable[[], object]]:
        reset_url = emails.link("account_reset_password_from_key", uidb36="7f", key="c0ffee-5eed")
        contexts: dict[str, dict[str, Any]] = {
            **{template: {**context, **NOTICE} for template, context in NOTICES.items()},
            "account/email/account_already_exists": {},
            "account/email/email_confirmation": {"code": "K7QM-2XRP"},
            "account/email/email_confirmation_signup": {"code": "K7QM-2XRP"},
            "account/email/password_reset_key": {"password_reset_url": reset_url},
        }
        return {
            template: partial(
                emails.queue_sign_in_email,
                template=template,
                to=self.to,
                context={"email": self.to, **context},
            )
            for template, context in contexts.items()
        }

    def _accounts(self) -> dict[str, Callable[[], object]]:
        self.account.closed_at = timezone.now()
        return {
            "accounts/mails/account_closed": lambda: emails.queue_account_closed(
                account=self.account, to=self.to
            ),
            "accounts/mails/invitation": self._invite,
            "accounts/mails/member_removed": lambda: emails.queue_member_removed(
                account=self.account, to=self.to
            ),
            "accounts/mails/second_factor_required": partial(
                emails.queue_second_factor_required,
                account=self.account,
                actor=self.owner,
                to=self.to,
                has_factor=False,
            ),
            "accounts/mails/second_factor_removed": lambda: emails.queue_second_factor_removed(
                to=self.to, kind="Authenticator app"
            ),
            "accounts/mails/webhook_disabled": lambda: emails.queue_webhook_disabled(
                endpoint=WebhookEndpoint(
                    account=self.account,
                    url="https://hooks.shop.example/events",
                    disabled_reason=DisabledReason.FAILING,
                )
            ),
        }

    def _invite(self) -> None:
        team.invite_member(
            account=self.account, email="new@shop.example", role=Role.VIEWER, actor=self.owner
        )
        self.to = "new@shop.example"

    def _credits(self) -> dict[str, Callable[[], object]]:
        account, plan = self.account, Plan.objects.get(code="growth")
        return {
            "credits/mails/invoice": self._order,
            "credits/mails/receipt": lambda: fulfill_order(order=self._order()),
            "credits/mails/refund": self._refund,
            "credits/mails/renewal": self._renew,
            "credits/mails/payment_failed": lambda: credit_emails.queue_payment_failed(
                account=account, plan=plan, ends_on=date(2026, 11, 10)
            ),
            "credits/mails/order_payment_failed": lambda: credit_emails.queue_order_payment_failed(
                order=self._order()
            ),
            "credits/mails/top_up_failed": lambda: credit_emails.queue_top_up_failed(
                order=self._order(), failure="card_declined", is_off=True
            ),
            "credits/mails/top_up_off": lambda: credit_emails.queue_top_up_off(
                order=self._order(), reason="An automatic order was refunded"
            ),
            "credits/mails/top_up_paused": lambda: credit_emails.queue_top_up_paused(
                account=account, reason="the monthly cap is reached"
            ),
            "credits/mails/top_up_receipt": self._top_up,
            "credits/mails/plan_ended": lambda: credit_emails.queue_plan_ended(
                account=account, plan=plan
            ),
            "credits/mails/low_balance": lambda: credit_emails.queue_low_balance(
                account=account, balance=1_337, threshold=2_000
            ),
            "credits/mails/unusual_usage": lambda: credit_emails.queue_unusual_usage(
                account=account, key=None, now="12,400 credits", before="900 credits at most"
            ),
            "credits/mails/zero_balance": lambda: credit_emails.queue_zero_balance(account=account),
        }

    def _order(self) -> Order:
        pack = Pack.objects.get(credits=10_000)
        buyer = Buyer("The Shop Ltd", "1 Market Street\nExampleton")
        return place_order(quote=quote(self.account, pack), buyer=buyer, actor=self.owner)

    def _top_up(self) -> None:
        order = self._order()
        AutomaticOrder.objects.create(order=order)
        credit_emails.queue_receipt(order=order)

    def _refund(self) -> None:
        order = self._order()
        fulfill_order(order=order)
        refund_order(order=order, cents=order.total_cents // 3, actor=self.owner)
        refund_order(order=order, actor=self.owner)

    def _renew(self) -> None:
        plan = Plan.objects.get(code="growth")
        bought = quote(self.account, plan)
        order = place_order(quote=bought, buyer=Buyer("The Shop Ltd"), actor=self.owner)
        order.kind = OrderKind.RENEWAL
        order.period_start, order.period_end = date(2026, 12, 3), date(2027, 1, 3)
        credit_emails.queue_invoice(order=order)

    def _others(self) -> dict[str, Callable[[], object]]:
        return {
            "apikeys/mails/key_created": self._key,
            "apikeys/mails/key_changed": lambda: key_emails.queue_key_changed(
                key=self._key(requests_per_minute=1_200), actor=self.owner
            ),
            "apikeys/mails/key_expires": lambda: key_emails.queue_key_expires(
                key=self._key(expires_at=MOMENT, last_used_at=MOMENT)
            ),
            "apikeys/mails/key_limit_near": lambda: key_emails.queue_key_limit_near(
                key=self._key(), use=CreditUse(5_000, 4_000, 0, MOMENT.date())
            ),
            "apikeys/mails/key_limit_reached": self._reach_limit,
            "apikeys/mails/key_revoked": lambda: key_emails.queue_key_revoked(
                key=self._key(), actor=self.owner
            ),
            "apikeys/mails/key_rotated": lambda: key_emails.queue_key_rotated(
                key=self._key(expires_at=MOMENT), replacement=self._key(), actor=self.owner
            ),
            "lists/mails/list_failed": lambda: list_emails.queue_list_failed(self._list()),
            "lists/mails/list_results": lambda: list_emails.queue_list_results(self._list(), 33),
            "reference/mails/opt_out": lambda: queue_opt_out(to=self.to, domain="shop.example"),
            "validation/mails/feedback_answered": self._answer,
        }

    def _reach_limit(self) -> None:
        use = CreditUse(limit=5_000, charged=5_000, held=0, month=MOMENT.date())
        key_emails.queue_key_limit_reached(key=self._key(), use=use)

    def _key(self, **fields: object) -> ApiKey:
        key, _ = create_key(account=self.account, name="Checkout form", actor=self.owner)
        for name, value in fields.items():
            setattr(key, name, value)
        return key

    def _list(self) -> AddressList:
        return AddressList(
            account=self.account,
            name="customers.csv",
            created_by=self.owner.email,
            state=ListState.RECHECKING,
            recheck_at=MOMENT,
            addresses=12_480,
            deliverable=9_876,
            risky=1_240,
            undeliverable=1_331,
            unknown=33,
            error_message="Something went wrong on our side. You were not charged for the rest.",
        )

    def _answer(self) -> None:
        feedback = make_feedback(self.account)
        feedback.sent_by, feedback.answer = self.owner.email, "You are right.\nWe fixed it."
        queue_feedback_answered(feedback)
