"""The credit limit of a key: what its pages, its export and the audit log say about it."""

from datetime import date
from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, AuditEntry, User
from apikeys import services
from apikeys.credit_limits import CreditUse
from apikeys.models import ApiKey
from credits.wallet.charges import Charge, charge_account
from runtime.models import Mail
from tests.conftest import signed_in
from tests.credits.time_travel import on

NOVEMBER = date(2026, 11, 1)


def charge(key: ApiKey, cost: int) -> None:
    charge_account(Charge(key.account, key, "risky", cost, 5, validations=cost))


def test_use_and_reset_are_described() -> None:
    use = CreditUse(5_000, 1_240, 0, NOVEMBER)
    assert use.amount == "1,240 of 5,000 credits used in November"
    assert (use.reset, use.remaining, use.percent) == ("resets on December 1 (UTC)", 3_760, 24)
    held = CreditUse(5_000, 1_000, 240, date(2026, 12, 1))
    amount = "1,240 of 5,000 credits used in December (240 of them held for work in progress)"
    assert (held.amount, held.reset) == (amount, "resets on January 1 (UTC)")
    assert (held.remaining, held.percent) == (3_760, 24)
    above = CreditUse(1, 25, 0, NOVEMBER)
    assert (above.amount, above.remaining) == ("25 of 1 credit used in November", 0)
    assert above.percent == 100


@pytest.mark.anywhere
@pytest.mark.django_db
class TestPages:
    def change(self, browser: Client, key: ApiKey, credits_per_month: str, **fields: Any) -> str:
        sent = {
            "name": key.name,
            "access": "full",
            "credits_per_month": credits_per_month,
            **fields,
        }
        path = f"/apikeys/{key.public_id}/change/"
        return browser.post(path, sent, follow=True).content.decode()

    def test_pages_show_the_use_of_a_limited_key(self, browser: Client, key: ApiKey) -> None:
        with on("2026-11-25"):
            self.change(signed_in(User.objects.get()), key, "50")
            charge(key, 12)
            browser = signed_in(User.objects.get())
            listed = browser.get("/apikeys/").content.decode()
            page = browser.get(f"/apikeys/{key.public_id}/change/").content.decode()
        assert "12 of 50 credits used in November" in listed
        assert 'value="24"' in listed
        assert "12 of 50 credits used in November; resets on December 1 (UTC)." in page
        assert 'name="credits_per_month" value="50"' in page

    def test_empty_field_removes_the_limit(self, browser: Client, key: ApiKey) -> None:
        self.change(browser, key, "50")
        assert AuditEntry.objects.latest("pk").target.endswith(", 50 credits per month")
        assert "and 50 credits per month" in Mail.objects.latest("pk").text
        self.change(browser, key, "")
        assert AuditEntry.objects.latest("pk").target.endswith(", no credit limit")
        key.refresh_from_db()
        assert key.credits_per_month is None

    @pytest.mark.both
    def test_list_of_keys_reads_all_uses_in_one_query(
        self, browser: Client, account: Account, owner: User, django_assert_max_num_queries: Any
    ) -> None:
        for number in range(10):
            name = f"Key {number}"
            services.create_key(account=account, name=name, actor=owner, credits_per_month=9)
        with django_assert_max_num_queries(12):
            page = browser.get("/apikeys/").content.decode()
        assert page.count("0 of 9 credits used") == 10

    def test_staff_see_limit_and_use_of_a_key(self, key: ApiKey, staff: User) -> None:
        path = f"/admin/apikeys/apikey/{key.pk}/change/"
        assert "No limit" in signed_in(staff).get(path).content.decode()
        with on("2026-11-25"):
            ApiKey.objects.update(credits_per_month=50)
            charge(key, 12)
            page = signed_in(staff).get(path).content.decode()
        assert "12 of 50 credits used in November; resets on December 1 (UTC)" in page
