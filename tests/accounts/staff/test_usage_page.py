"""Staff look at a customer's usage as themselves: they cannot act there, and it is on record."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Account, User
from apikeys.models import ApiKey, RefusalHour
from credits.models import Pack
from credits.orders.lifecycle import Buyer, start_order
from credits.wallet.charges import Charge, charge
from tests.accounts.staff.people import in_group, panel, take_from_group, words
from tests.conftest import make_user, signed_in
from tests.support.frozen_minute import freeze_time_but_not_processes
from validation.models import LogEntry

__all__ = ["freeze_time_but_not_processes"]

pytestmark = pytest.mark.django_db

LOOKED = "account.looked_at_by_staff"


@pytest.fixture
def busy(account: Account, owner: User, key: ApiKey) -> Account:
    charge(Charge(account=account, key=key, verdict="deliverable", cost=3, duration_ms=20))
    charge(Charge(account=account, key=None, verdict="risky", cost=1, duration_ms=20))
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    RefusalHour.objects.add(
        account_id=account.pk, key_id=key.pk, hour=hour, code="rate_limit_exceeded", calls=1234
    )
    for number in range(22):
        LogEntry.objects.create(
            account=account,
            key=key,
            at=timezone.now() - timedelta(seconds=number),
            request_id=f"req_number-{number:02}",
            status=200,
            verdict="deliverable",
            reason="accepts_mail",
            address="j***@example.com",
            path="/v1/validate",
            cost=1,
            duration_ms=14,
        )
    pack = Pack.objects.earliest("credits")
    start_order(account=account, item=pack, buyer=Buyer("The Shop Ltd"), actor=owner)
    return account


def page_of(account: Account) -> str:
    return f"/admin/usage/{account.public_id}/"


def look(client: Client, account: Account) -> str:
    answer = client.get(page_of(account))
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_tells_what_support_is_asked(busy: Account, key: ApiKey) -> None:
    page = look(in_group("Support"), busy)
    have = panel(page, "What do they have?")
    assert "Balance 96" in have
    assert "Plan Free" in have
    assert "Requests a minute 60" in have
    use = panel(page, "How much do they use?")
    assert f"{timezone.now():%-d %b %Y} 2 4 1 1 0 0" in use
    keys = panel(page, "With which keys?")
    assert f"{key} 1 3 1 0 0 0" in keys
    assert "Playground 1 1 0 1 0 0" in keys
    assert "rate_limit_exceeded 429 1,234" in panel(page, "What was refused?")
    assert "Sign-up credits +100 system" in panel(page, "What moved the balance, beside use?")
    assert "INV-000001" in panel(page, "What did they order?")


def test_the_newest_twenty_requests_are_shown(busy: Account) -> None:
    asked = panel(look(in_group("Support"), busy), "What did they ask last?")
    assert asked.index("req_number-00") < asked.index("req_number-19")
    assert "req_number-20" not in asked
    assert "The Shop's server 200 deliverable, accepts_mail j***@example.com 1 14" in asked


def test_an_account_that_did_nothing_says_so(stranger: User) -> None:
    quiet = Account.objects.get(memberships__user=stranger)
    said = words(look(in_group("Support"), quiet))
    assert "Nothing was used in the last 30 days." in said
    assert "Nothing was refused in the last 30 days." in said
    assert "The request log holds nothing of theirs." in said


def test_every_link_of_the_page_leads_somewhere(busy: Account) -> None:
    client = in_group("Support")
    content = look(client, busy).partition("<main")[2].partition("</main>")[0]
    links = set(re.findall(r'href="(/[^"]+)"', content))
    assert len(links) > 10
    for link in links:
        assert client.get(link.replace("&amp;", "&")).status_code == 200, link


def test_another_customers_requests_are_not_on_it(busy: Account, stranger: User) -> None:
    other = Account.objects.get(memberships__user=stranger)
    assert "req_number" not in look(in_group("Support"), other)


def test_the_accounts_page_leads_there(busy: Account) -> None:
    page = in_group("Support").get(f"/admin/accounts/account/{busy.pk}/change/").content.decode()
    assert f'<a href="{page_of(busy)}">Usage and requests</a>' in page


def test_nothing_on_it_acts_for_the_customer(busy: Account) -> None:
    client = in_group("Support")
    page = look(client, busy)
    actions = set(re.findall(r'<form[^>]+action="([^"]+)"', page))
    assert actions == {"/admin/search/", "/accounts/logout/"}
    assert client.post(page_of(busy)).status_code == 405


def test_looking_does_not_switch_the_account(staff: User, stranger: User, busy: Account) -> None:
    stranger.is_staff = stranger.is_superuser = True
    stranger.save()
    client = signed_in(stranger)
    before = dict(client.session)
    look(client, busy)
    assert dict(client.session) == before
    assert "Elsewhere" in client.get("/credits/").content.decode()


def test_a_look_is_noted_once_an_hour_for_each_of_the_staff(busy: Account) -> None:
    support, finance = in_group("Support"), in_group("Finance")
    for client in (support, support, finance):
        look(client, busy)
    noted = busy.audit_entries.filter(action=LOOKED).order_by("pk")
    names = ["support@service.example", "finance@service.example"]
    assert list(noted.values_list("actor_name", flat=True)) == names
    assert noted[0].ip == "127.0.0.1"
    with time_machine.travel(timezone.now() + timedelta(minutes=61), tick=False):
        look(support, busy)
    assert noted.count() == 3


def test_without_the_permission_there_is_no_look_and_no_note(busy: Account) -> None:
    client = signed_in(make_user("new@service.example", is_staff=True))
    assert client.get(page_of(busy)).status_code == 403
    assert not busy.audit_entries.filter(action=LOOKED).exists()


@pytest.mark.parametrize(
    ("missing", "hidden"),
    [
        ("view_order", "What did they order?"),
        ("view_ledgerentry", "What moved the balance, beside use?"),
        ("view_wallet", "What do they have?"),
        ("view_useday", "How much do they use?"),
        ("view_logentry", "What did they ask last?"),
        ("view_refusalhour", "What was refused?"),
    ],
)
def test_a_panel_that_a_group_may_not_see_is_left_out(
    busy: Account, missing: str, hidden: str
) -> None:
    client = in_group("Support")
    assert hidden in look(client, busy)
    take_from_group("Support", missing)
    assert hidden not in look(client, busy)


def test_customers_see_nothing_of_it(busy: Account, owner: User) -> None:
    answer = signed_in(owner).get(page_of(busy))
    assert answer.status_code == 302
    assert answer["Location"].startswith("/admin/login/")


def test_an_account_that_is_not_there_is_not_found(staff: User) -> None:
    assert signed_in(staff).get("/admin/usage/acc_nothing/").status_code == 404
