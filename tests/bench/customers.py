"""Create accounts for benchmarks."""

import json

from tests.servers.keys import manage
from tests.servers.product import Product

ACCOUNTS = 200
# More than any run uses.
NO_LIMIT, CREDITS = 1_000_000_000, 1_000_000_000


def make_customers(site: Product, accounts: int = ACCOUNTS) -> dict[str, list[str]]:
    """Create this many accounts of each kind, and return the secrets of their keys."""
    code = f"from tests.bench.customers import print_secrets; print_secrets({accounts})"
    secrets: dict[str, list[str]] = json.loads(manage(site, "shell", "--no-imports", "-c", code))
    return secrets


def print_secrets(accounts: int) -> None:
    """Create the accounts. Runs in a process of the product."""
    from django.db import transaction

    with transaction.atomic():
        secrets = {
            "paid": [_make_key(f"shop-{n}", CREDITS, NO_LIMIT) for n in range(accounts)],
            "unpaid": [_make_key(f"poor-{n}", 0, NO_LIMIT) for n in range(accounts)],
            "limited": [_make_key(f"busy-{n}", CREDITS, 1) for n in range(accounts)],
        }
    print(json.dumps(secrets))


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
