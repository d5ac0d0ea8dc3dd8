"""The overview page: first steps until a request has arrived, then usage."""

from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account, User
from accounts.roles import Role
from apikeys.models import ApiKey, RefusalHour
from apikeys.models.refusals import refusals
from apikeys.services import create_key, revoke_key
from credits.models import Wallet
from credits.models.usage import Source
from tests.conftest import make_member, signed_in
from tests.support.api_client import ApiClient
from tests.validation.reports.usage_data import add_log_entry, add_usage, read_page
from validation.reports.overview import build_overview

pytestmark = pytest.mark.django_db

PAGE = "/validation/"


def page_text(browser: Client, path: str = PAGE) -> str:
    response = browser.get(path)
    assert response.status_code == 200
    return read_page(response)


@pytest.mark.anywhere
def test_new_account_sees_the_first_steps_and_polls_once_it_has_a_key(
    browser: Client, account: Account, owner: User
) -> None:
    page = page_text(browser)
    assert "Send your first request in three steps." in page
    assert 'href="/apikeys/create/"' in page
    assert "SVC_API_KEY</span>='paste your key here'" in page
    assert "data-poll" not in page
    create_key(account=account, name="Server", actor=owner)
    page = page_text(browser)
    assert 'data-poll="/validation/arrivals/"' in page
    assert page.count('<li class="steps-done">') == 1


@pytest.mark.anywhere
def test_viewer_sees_which_roles_can_create_keys(account: Account) -> None:
    page = page_text(signed_in(make_member(account, Role.VIEWER)))
    assert "Ask an owner, admin, or developer of The Shop" in page
    assert "/apikeys/create/" not in page


def test_first_request_appears_once_it_has_arrived(
    browser: Client, key: ApiKey, caller: ApiClient
) -> None:
    path = f"/validation/arrivals/{key.public_id}/"
    assert browser.get(path).status_code == 204
    caller.validate("risky@sandbox.test")
    assert "r***@sandbox.test" in page_text(browser, path)
    assert "is risky" in page_text(browser, path)


def test_after_the_first_result_three_steps_are_done(browser: Client, caller: ApiClient) -> None:
    caller.validate("risky@sandbox.test")
    page = page_text(browser)
    assert "Your first request worked." in page
    assert page.count('<li class="steps-done">') == 3
    assert page.count('<a role="button" href') == 1
    assert "Try a real address (1 credit)" in page
    assert "Latest requests" in page
    assert 'class="chart"' not in page
    assert "data-poll" not in page


def test_first_result_counts_without_a_request_log(browser: Client, caller: ApiClient) -> None:
    Account.objects.update(log_days=0)
    caller.validate("risky@sandbox.test")
    assert page_text(browser).count('<li class="steps-done">') == 3


def test_refused_first_request_is_shown(browser: Client, key: ApiKey, caller: ApiClient) -> None:
    caller.send(b"{}")
    page = page_text(browser, f"/validation/arrivals/{key.public_id}/")
    assert "refused your request: 400 <code>missing_field</code>" in page
    assert "How to fix it" in page
    page = page_text(browser)
    assert page.count('<li class="steps-done">') == 2
    assert "refused your request: 400 <code>missing_field</code>" in page
    assert "data-poll" in page


def test_request_in_progress_has_not_arrived(browser: Client, key: ApiKey) -> None:
    """A key's use is recorded before the log entry of the request."""
    path = f"/validation/arrivals/{key.public_id}/"
    ApiKey.objects.update(last_used_at=timezone.now() - timedelta(seconds=3))
    assert browser.get(path).status_code == 204
    ApiKey.objects.update(last_used_at=timezone.now() - timedelta(seconds=9))
    assert "We received your request." in page_text(browser, path)


def test_refusal_without_a_log_entry_is_shown(
    browser: Client, key: ApiKey, caller: ApiClient, owner: User
) -> None:
    path = f"/validation/arrivals/{key.public_id}/"
    revoke_key(key=key, actor=owner)
    caller.validate("risky@sandbox.test")
    refusals.flush()
    assert "refused your request: 401 <code>api_key_revoked</code>" in page_text(browser, path)
    assert "refused your request: 401 <code>api_key_revoked</code>" in page_text(browser)


def test_playground_counts_as_a_first_request(browser: Client) -> None:
    browser.post("/validation/playground/", {"email": "no address"})
    assert "Validations, last 30 days" in page_text(browser)


def test_page_shows_the_last_24_hours_7_days_and_30_days(browser: Client, account: Account) -> None:
    now = timezone.now()
    add_usage(account, now, 3)
    add_usage(account, now - timedelta(days=5), 10, "risky", duration_ms=80)
    add_usage(account, now - timedelta(days=9), 26, "unknown")
    add_usage(account, now - timedelta(days=40), 1_000)
    page = page_text(browser)
    for title, number in (("last 24 hours", 3), ("last 7 days", 13), ("last 30 days", 39)):
        assert f"<dt>Validations, {title}</dt><dd>{number}</dd>" in page
    assert "\N{MINUS SIGN}50% vs previous 7 days" in page
    assert "66.7%" in page


def test_lists_are_a_source_of_their_own_and_no_pace(
    browser: Client, account: Account, key: ApiKey
) -> None:
    now = timezone.now()
    for days in range(10):
        add_usage(account, now - timedelta(days=days), 100, key=key)
    for started_by in (key, None):
        yesterday = now - timedelta(days=1)
        add_usage(account, yesterday, 50_000, key=started_by, for_list=True)
    Wallet.objects.filter(account=account).update(balance=2_000)
    page = page_text(browser)
    assert page.count("About 17 days left") == 3
    assert "Last 30 days: 101,000 validations" in page
    page = page_text(browser, f"{PAGE}?source=api")
    assert "<dt>Requests, last 7 days</dt><dd>700</dd>" in page
    assert "+133% vs previous 7 days" in page
    assert "Last 30 days: 1,000 requests" in page
    page = page_text(browser, f"{PAGE}?source=lists")
    assert "Last 30 days: 100,000 addresses" in page
    assert '<a href="?source=lists" aria-current="true">Lists</a>' in page


@pytest.mark.anywhere
def test_unknown_source_shows_all(browser: Client, account: Account) -> None:
    add_usage(account, timezone.now(), 3)
    assert "Last 30 days: 3 validations" in page_text(browser, f"{PAGE}?source=../x")


def test_chart_compares_with_the_30_days_before(browser: Client, account: Account) -> None:
    now = timezone.now()
    for days, calls in ((0, 1_000), (3, 60), (33, 40), (30, 5_000)):
        add_usage(account, now - timedelta(days=days), calls)
    page = page_text(browser)
    # The bar and the row of the table.
    assert page.count(f'href="/validation/requests/?since={now:%Y-%m-%d}T00%3A00&') == 2
    assert page.count('<th scope="row">') == 30
    assert "Last 30 days: 1,060 validations" in page
    assert "50% more than in the previous 30 days, without today" in page
    before = f"{now - timedelta(days=3):%a %d %b}: 60 validations 60 deliverable 40 previously"
    assert f"<title>{before}</title>" in page
    assert '<td data-label="previously">40</td>' in page
    assert page.count('class="chart-previous"') == 2


def test_balance_is_drawn_back_from_today(account: Account) -> None:
    now = timezone.now()
    add_usage(account, now, 30)
    add_usage(account, now - timedelta(days=2), 5, for_list=True)
    account.ledger.create(
        at=now - timedelta(days=1), kind="grant", amount=50, source="a", actor="b", reason="c"
    )
    Wallet.objects.filter(account=account).update(balance=100)
    account = Account.objects.get(pk=account.pk)
    signup = account.ledger.get(kind="signup").amount
    balances = build_overview(account, now, [Source.API]).balances
    assert balances[-4:] == [*(85 - signup, 80 - signup), 130 - signup, 100]
    assert len(balances) == 30


def test_without_usage_in_30_days_there_is_no_chart(browser: Client, account: Account) -> None:
    add_usage(account, timezone.now() - timedelta(days=40))
    page = page_text(browser)
    assert 'class="chart"' not in page
    assert 'href="/validation/usage/?range=12m"' in page


def test_refusals_are_listed_by_code(browser: Client, account: Account) -> None:
    add_usage(account, timezone.now())
    for days, code, calls in ((1, "rate_limit_exceeded", 7), (20, "insufficient_credits", 9)):
        hour = timezone.now() - timedelta(days=days)
        add = RefusalHour.objects.create
        add(account_id=account.pk, key_id=None, hour=hour, code=code, calls=calls)
    page = page_text(browser)
    assert "429" in page
    assert '<code>rate_limit_exceeded</code> <span class="text-muted">7 requests</span>' in page
    assert "Compare plans</a>" in page
    assert "insufficient_credits" not in page


@pytest.mark.anywhere
def test_low_balance_is_shown_with_a_link_to_buy_credits(browser: Client, account: Account) -> None:
    add_usage(account, timezone.now())
    assert "At 0, API requests return 402" not in page_text(browser)
    Wallet.objects.filter(account=account).update(balance=10)
    assert "<strong>10 credits left.</strong>" in page_text(browser)
    assert "Buy credits</a>" in page_text(browser)
    Wallet.objects.filter(account=account).update(balance=0)
    assert "No credits left." in page_text(browser)


@pytest.mark.anywhere
def test_security_suggestions_disappear_once_they_are_done(
    browser: Client, account: Account, owner: User
) -> None:
    add_usage(account, timezone.now())
    assert "Turn on two-factor authentication" in page_text(browser)
    assert "Invite your team" in page_text(browser)
    Authenticator.objects.create(user=owner, type=Authenticator.Type.TOTP, data={"secret": "x"})
    make_member(account, Role.VIEWER)
    assert "Secure your account" not in page_text(browser)


def test_nothing_of_others_is_shown(browser: Client, account: Account, stranger: User) -> None:
    other = stranger.memberships.get().account
    now = timezone.now()
    add_usage(account, now)
    add_usage(other, now, 500)
    add_log_entry(other, now, "secret@elsewhere.example")
    page = page_text(browser)
    assert "elsewhere.example" not in page
    assert "<dt>Validations, last 30 days</dt><dd>1</dd>" in page


def test_page_needs_no_more_than_17_queries(
    browser: Client,
    account: Account,
    key: ApiKey,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    now = timezone.now()
    for days in range(30):
        add_usage(account, now - timedelta(days=days), 5, key=key)
        add_log_entry(account, now - timedelta(days=days), key=key)
    with django_assert_max_num_queries(17):
        page_text(browser)
