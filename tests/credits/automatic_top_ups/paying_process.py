"""Spend an account's credits, and pay its automatic order once.

Started by test_killed_workers.py with the account's id: `python -m …paying_process acc_…`. It
behaves as if the leases of killed workers had ended, and 11 minutes had passed.
"""

import sys
from datetime import timedelta

import django

django.setup()

from django.utils import timezone  # noqa: E402

from accounts.models import Account  # noqa: E402
from credits.models import AutomaticTopUp, Wallet  # noqa: E402
from credits.payments.automatic_orders import pay_due_orders  # noqa: E402
from credits.services import deduct  # noqa: E402


def main(account_id: str) -> None:
    account = Account.objects.get(public_id=account_id)
    balance = Wallet.objects.get(account=account).balance
    if balance:
        deduct(account=account, amount=balance, reason="Spent", actor=None)
    now = timezone.now()
    AutomaticTopUp.objects.update(leased_until=None, next_attempt_at=now)
    AutomaticTopUp.objects.exclude(last_order_at=None).update(
        last_order_at=now - timedelta(minutes=11)
    )
    print("ready", flush=True)
    pay_due_orders()


if __name__ == "__main__":
    main(sys.argv[1])
