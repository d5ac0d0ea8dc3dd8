"""Create accounts for benchmarks, with `python -m tests.bench.customers 200`.

The command writes to the database of DATABASE_URL and prints the secrets of the accounts' keys as
JSON: a list for each kind of account.
"""

import json
import os
import subprocess
import sys

from tests.servers.product import ROOT, Product

ACCOUNTS = 200
# More than any run uses.
NO_LIMIT, CREDITS = 1_000_000_000, 1_000_000_000


def make_customers(site: Product, accounts: int = ACCOUNTS) -> dict[str, list[str]]:
    """Create this many accounts of each kind, and return the secrets of their keys."""
    result = subprocess.run(
        [sys.executable, "-m", "tests.bench.customers", str(accounts)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **site.environment},
        capture_output=True,
        text=True,
        check=True,
    )
    secrets: dict[str, list[str]] = json.loads(result.stdout)
    return secrets


def _make(accounts: int) -> dict[str, list[str]]:
    from django.db import transaction

    with transaction.atomic():
        return {
            "paid": [_make_key(f"shop-{n}", CREDITS, NO_LIMIT) for n in range(accounts)],
            "unpaid": [_make_key(f"poor-{n}", 0, NO_LIMIT) for n in range(accounts)],
            "limited": [_make_key(f"busy-{n}", CREDITS, 1) for n in range(accounts)],
        }


def _make_key(name: str, credits: int, requests_per_minute: int) -> str:
    from accounts.models import User
    from accounts.services import open_account
    from apikeys.models import ApiKey
    from credits.services import grant

    account = open_account(user=User.objects.create(email=f"{name}@shop.example"), name=name)
    account.requests_per_minute_override = requests_per_minute
    account.save(update_fields=["requests_per_minute_override"])
    if credits:
        grant(account=account, amount=credits, reason="Benchmark", actor=None)
    _, secret = ApiKey.objects.create_key(account=account, name="Benchmark")
    return str(secret)


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    print(json.dumps(_make(int(sys.argv[1]))))
