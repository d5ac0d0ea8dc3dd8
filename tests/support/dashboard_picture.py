"""Take the README's picture of the dashboard: `python -m tests.support.dashboard_picture`."""

import random
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from tests.journeys.conftest import ARGUMENTS, find_chromium
from tests.journeys.keys import create_key
from tests.journeys.newcomers import sign_up
from tests.journeys.windows import Windows
from tests.servers.keys import manage
from tests.servers.product import ROOT, product

PICTURE = ROOT / "docs" / "images" / "dashboard.png"
OWNER = "jordan@shop.example"
SHARES = {"deliverable": 0.81, "risky": 0.1, "undeliverable": 0.075, "unknown": 0.015}
REFUSALS = {"rate_limit_exceeded": 18, "missing_field": 7, "insufficient_credits": 4}


def take_picture() -> None:
    with (
        TemporaryDirectory() as folder,
        product(Path(folder) / "product", WEB_WORKERS="1") as site,
        sync_playwright() as playwright,
    ):
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        page = Windows(chromium, site.url).open(sign_up(site, OWNER))
        create_key(page, "Sign-up form")
        code = "from tests.support.dashboard_picture import fill_account; fill_account()"
        manage(site, "shell", "--no-imports", "-c", code)
        page.set_viewport_size({"width": 1280, "height": 1000})
        page.goto("/validation/")
        page.screenshot(path=PICTURE)
        chromium.close()


def fill_account() -> None:
    """Give the owner's account two months of plausible usage. Runs in the product's process."""
    # These need Django's settings.
    from django.utils import timezone

    from accounts.models import Account
    from apikeys.models import RefusalHour
    from credits.models import UseHour, Wallet
    from tests.validation.reports.usage_data import add_usage

    account = Account.objects.get(memberships__user__email=OWNER)
    key = account.api_keys.get()
    numbers = random.Random(7)
    now = timezone.now()
    for hours in range(24 * 62):
        at = now - timedelta(hours=hours)
        week = 0.55 if at.weekday() >= 5 else 1
        day = 0.5 + 0.9 * max(0, 1 - abs(at.hour - 14) / 10)
        calls = (380 + 120 * numbers.random()) * week * day * (1 - hours / 4200)
        for verdict, share in SHARES.items():
            number = int(calls * share * numbers.uniform(0.85, 1.15))
            add_usage(account, at, number, verdict, key=key, duration_ms=17)
    UseHour.objects.filter(verdict="unknown").update(credits=0)
    for error, number in REFUSALS.items():
        RefusalHour.objects.add(
            account_id=account.pk, key_id=key.pk, hour=now, code=error, calls=number
        )
    Wallet.objects.filter(account=account).update(balance=148_205)
    Account.objects.filter(pk=account.pk).update(name="The Shop")


if __name__ == "__main__":
    take_picture()
