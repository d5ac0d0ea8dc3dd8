"""Hold, charge, release, grant, and deduct credits of an account until killed.

Started by test_kills.py with the account's id: `python -m …holding_process acc_…`.
"""

import random
import sys
from contextlib import suppress

import django

django.setup()

from accounts.models import Account  # noqa: E402
from credits.services import deduct, grant  # noqa: E402
from credits.wallet.charges import Charge, InsufficientCredits  # noqa: E402
from credits.wallet.holds import HoldEnded, charge_hold, hold_credits, release_hold  # noqa: E402
from runtime.ids import random_id  # noqa: E402


def work_on_a_list(account: Account) -> None:
    size = random.randint(100, 900)
    hold = hold_credits(account=account, amount=size, source=random_id("lst"), reason="A list")
    for _ in range(random.randint(1, 8)):
        costs = [random.randint(0, 1) for _ in range(100)]
        charges = [Charge(account, None, "deliverable", cost, 5) for cost in costs]
        charge_hold(hold=hold, charges=charges)
        print("charged", flush=True)
    release_hold(hold=hold)


def main(account_id: str) -> None:
    account = Account.objects.get(public_id=account_id)
    while True:
        with suppress(InsufficientCredits, HoldEnded):
            work_on_a_list(account)
        if random.random() < 0.3:
            deduct(account=account, amount=random.randint(1, 2_000), reason="Test", actor=None)
            grant(account=account, amount=random.randint(1, 3_000), reason="Test", actor=None)


if __name__ == "__main__":
    main(sys.argv[1])
