"""The first page: three steps until a request has come, then figures."""

from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account, User
from accounts.roles import Role
from apikeys.models import ApiKey, RefusalHour
from apikeys.services import create_key, revoke_key
from apikeys.throttling.refusal_counts import refusals
from credits.models import Wallet
from tests.conftest import make_member, signed_in
from tests.support.api_client import ApiClient
from tests.validation.reports.use import logged, read, use

pytestmark = pytest.mark.django_db

PAGE = "/validation/"


@pytest.fixture
def browser(owner: User) -> Client:
    return signed_in(owner)


def text(browser: Client, path: str = PAGE) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200
    return read(answer)


def test_a_newcomer_is_led_to_a_first_request(browser: Client) -> None:
    page = text(browser)
    assert "Your first request" in page
    assert 'href="/apikeys/create/"' in page
    assert "export SVC_API_KEY=" in page
    assert "data-poll" not in page


def test_with_a_key_the_page_waits_for_it(browser: Client, key: ApiKey) -> None:
    page = text(browser)
    assert 'data-poll="/validation/arrivals/"' in page
    assert page.count('<li class="done">') == 1


def test_who_may_create_no_key_is_told_who_may(account: Account) -> None:
    page = text(signed_in(make_member(account, Role.VIEWER)))
    assert "Owners, admins and developers" in page
    assert "/apikeys/create/" not in page


def test_the_request_appears_when_it_has_come(
    browser: Client, key: ApiKey, caller: ApiClient
) -> None:
    path = f"/validation/arrivals/{key.public_id}/"
    assert browser.get(path).status_code == 204
    caller.validate("risky@sandbox.test")
    assert "r***@sandbox.test" in text(browser, path)
    assert "is risky" in text(browser, path)
    assert "Your first request" not in text(browser)


def test_a_first_request_that_is_refused_is_told_as_well(
    browser: Client, key: ApiKey, caller: ApiClient
) -> None:
    caller.send(b"{}")
    page = text(browser, f"/validation/arrivals/{key.public_id}/")
    assert "refused: 400 <code>missing_field</code>" in page
    assert "See what to do" in page


def test_a_request_that_is_still_on_its_way_has_not_arrived(browser: Client, key: ApiKey) -> None:
    """A key notes its use first, and the row comes with the answer."""
    path = f"/validation/arrivals/{key.public_id}/"
    ApiKey.objects.update(last_used_at=timezone.now() - timedelta(seconds=3))
    assert browser.get(path).status_code == 204
    ApiKey.objects.update(last_used_at=timezone.now() - timedelta(seconds=9))
    assert "It arrived." in text(browser, path)


def test_a_refusal_that_is_no_row_is_told_too(
    browser: Client, key: ApiKey, caller: ApiClient, owner: User
) -> None:
    path = f"/validation/arrivals/{key.public_id}/"
    revoke_key(key=key, actor=owner)
    caller.validate("risky@sandbox.test")
    refusals.write()
    assert "refused: 401 <code>api_key_revoked</code>" in text(browser, path)
    assert "Latest requests" in text(browser)


def test_a_key_that_is_refused_by_its_network_has_begun(
    browser: Client, account: Account, owner: User
) -> None:
    networks = ["192.0.2.0/24"]
    key, secret = create_key(account=account, name="Far", actor=owner, allowed_networks=networks)
    assert ApiClient(secret).validate("risky@sandbox.test").status_code == 403
    for path in (f"/validation/arrivals/{key.public_id}/", "/validation/arrivals/"):
        page = text(browser, path)
        assert "refused: 403 <code>ip_not_allowed</code>" in page
        assert "data-ask-again" in page
    assert "Latest requests" in text(browser)


def test_who_may_create_no_key_is_not_led_to_where_they_are_made(
    account: Account, key: ApiKey
) -> None:
    assert "/apikeys/create/" not in text(signed_in(make_member(account, Role.VIEWER)))


def test_the_playground_counts_as_a_first_request(browser: Client) -> None:
    browser.post("/validation/playground/", {"email": "no address"})
    assert "Your first request" not in text(browser)


def test_the_figures_of_today_the_week_and_the_month(browser: Client, account: Account) -> None:
    now = timezone.now()
    use(account, now, 3)
    use(account, now - timedelta(days=5), 10, "risky", duration_ms=80)
    use(account, now - timedelta(days=9), 26, "unknown")
    use(account, now - timedelta(days=40), 1_000)
    page = text(browser)
    for title, number in (("Requests today", 3), ("Last 7 days", 13), ("Last 30 days", 39)):
        assert f"<dt>{title}</dt><dd>{number}</dd>" in page
    assert "\N{MINUS SIGN}50 % to the week before" in page
    assert "66.7 %" in page


def test_refusals_are_told_by_their_code(browser: Client, account: Account) -> None:
    use(account, timezone.now())
    for days, code, calls in ((1, "rate_limit_exceeded", 7), (20, "insufficient_credits", 9)):
        hour = timezone.now() - timedelta(days=days)
        add = RefusalHour.objects.add
        add(account_id=account.pk, key_id=None, hour=hour, code=code, calls=calls)
    page = text(browser)
    assert "429" in page
    assert "rate_limit_exceeded</code></a></dt><dd>7</dd>" in page
    assert "insufficient_credits" not in page


def test_a_low_balance_is_told_with_its_cure(browser: Client, account: Account) -> None:
    use(account, timezone.now())
    assert "At 0 requests are refused" not in text(browser)
    Wallet.objects.filter(account=account).update(balance=10)
    assert "<strong>10 credits left</strong>" in text(browser)
    assert "Buy credits</a>" in text(browser)
    Wallet.objects.filter(account=account).update(balance=0)
    assert "No credits are left" in text(browser)


def test_who_may_not_buy_is_told_who_may(account: Account) -> None:
    use(account, timezone.now())
    Wallet.objects.filter(account=account).update(balance=0)
    page = text(signed_in(make_member(account, Role.VIEWER)))
    assert "Owners, admins and Billing may buy more" in page


def test_what_would_make_it_safe_goes_when_it_is_done(
    browser: Client, account: Account, owner: User
) -> None:
    use(account, timezone.now())
    assert "Add a second factor" in text(browser)
    assert "Invite your colleagues" in text(browser)
    Authenticator.objects.create(user=owner, type=Authenticator.Type.TOTP, data={"secret": "x"})
    make_member(account, Role.VIEWER)
    assert "Make it safe" not in text(browser)


def test_nothing_of_another_account_is_shown(
    browser: Client, account: Account, stranger: User
) -> None:
    other = stranger.memberships.get().account
    now = timezone.now()
    use(account, now)
    use(other, now, 500)
    logged(other, now, "secret@elsewhere.example")
    page = text(browser)
    assert "elsewhere.example" not in page
    assert "<dt>Last 30 days</dt><dd>1</dd>" in page


def test_the_page_asks_no_more_than_12_queries(
    browser: Client,
    account: Account,
    key: ApiKey,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    now = timezone.now()
    for days in range(30):
        use(account, now - timedelta(days=days), 5, key=key)
        logged(account, now - timedelta(days=days), key=key)
    with django_assert_max_num_queries(12):
        text(browser)
