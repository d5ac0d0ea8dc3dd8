"""Staff edit the prices of plans and packs as money."""

import pytest
from django.test import Client

from accounts.models import AuditEntry
from credits.models import Pack, Plan

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def test_price_of_a_pack_is_shown_and_entered_as_money(superuser: Client) -> None:
    pack = Pack.objects.get(credits=1_000)
    url = f"/admin/credits/pack/{pack.pk}/change/"
    page = superuser.get(url).content.decode()
    assert "Price (USD, net)" in page
    assert 'value="5.00"' in page
    form = {"credits": "1000", "price_cents": "5.50", "requests_per_minute": "300"}
    form |= {"list_addresses": "10000", "list_bytes": "10485760", "is_offered": "on"}
    assert superuser.post(url, form).status_code == 302
    pack.refresh_from_db()
    assert pack.price_cents == 550
    entry = AuditEntry.objects.get(action="pack.changed_by_staff")
    assert "price: $5.00 → $5.50" in entry.target


def test_unchanged_price_is_not_recorded_as_a_change(superuser: Client) -> None:
    plan = Plan.objects.get(code="growth")
    form = {"name": "Growth", "price_cents": "99", "monthly_credits": "50000", "is_offered": "on"}
    form |= {"requests_per_minute": "1300", "list_bytes": str(plan.list_bytes)}
    form |= {"list_addresses": str(plan.list_addresses)}
    assert superuser.post(f"/admin/credits/plan/{plan.pk}/change/", form).status_code == 302
    entry = AuditEntry.objects.get(action="plan.changed_by_staff")
    assert entry.target == "Growth: requests_per_minute: 1200 → 1300"


def test_invalid_price_keeps_what_was_entered(superuser: Client) -> None:
    pack = Pack.objects.get(credits=1_000)
    form = {"credits": "1000", "price_cents": "5.555", "requests_per_minute": "300"}
    page = superuser.post(f"/admin/credits/pack/{pack.pk}/change/", form).content.decode()
    assert 'value="5.555"' in page
    assert "no more than 2 decimal places" in page


def test_price_of_the_free_plan_is_read_only(superuser: Client) -> None:
    page = superuser.get(f"/admin/credits/plan/{Plan.objects.free().pk}/change/").content.decode()
    assert "$0.00" in page
    assert 'name="price_cents"' not in page
