"""Users change to a new address, also while others claim it."""

import pytest
from allauth.account.models import EmailAddress
from django.contrib.messages import get_messages
from django.test import Client

from accounts.models import Account, AuditEntry, User
from runtime.models import Mail
from tests.conftest import PASSWORD, make_user, signed_in_by_form
from tests.support.fresh_database import run_concurrently
from tests.support.received_email import code_in_email

NEW = "new@shop.example"
CONFIRM = "/accounts/confirm-email/"


def request_change(browser: Client, email: str = NEW) -> str:
    """Request the change, and return the code that is sent to the new address."""
    browser.post("/accounts/email/", {"action_add": "", "email": email})
    assert Mail.objects.latest("pk").to == email
    return code_in_email()


def confirm(browser: Client, code: str) -> str:
    """Send the code, and return the messages and the page that the user sees."""
    response = browser.post(CONFIRM, {"code": code})
    assert response.status_code in (200, 302)
    messages = [str(message) for message in get_messages(response.wsgi_request)]
    return " ".join([*messages, response.content.decode()])


def confirmed_emails() -> dict[str, str]:
    """Return the confirmed address of each user."""
    verified = EmailAddress.objects.filter(verified=True, primary=True)
    emails = {address.user.email: address.email for address in verified.select_related("user")}
    assert all(user == address for user, address in emails.items())
    return emails


@pytest.mark.django_db
def test_unconfirmed_sign_up_is_untouched_by_a_change_until_that_is_confirmed(owner: User) -> None:
    Client().post("/accounts/signup/", {"email": NEW, "password1": PASSWORD})
    browser = signed_in_by_form(owner)
    code = request_change(browser)
    assert User.objects.filter(email=NEW).exists()
    assert list(confirmed_emails()) == [owner.email]
    assert f"{NEW} is confirmed" in confirm(browser, code)
    assert list(User.objects.values_list("email", flat=True)) == [NEW]
    assert list(confirmed_emails()) == [NEW]
    assert Account.objects.filter(closed_at=None).count() == 1


@pytest.mark.django_db
def test_sign_up_after_the_change_request_does_not_block_it(owner: User) -> None:
    browser = signed_in_by_form(owner)
    code = request_change(browser)
    late = Client()
    late.post("/accounts/signup/", {"email": NEW, "password1": PASSWORD})
    late_code = code_in_email()
    assert f"{NEW} is confirmed" in confirm(browser, code)
    # The change voids the code of the sign-up.
    assert "Incorrect code" in confirm(late, late_code)
    assert late.get("/validation/").status_code == 302
    assert list(confirmed_emails()) == [NEW]


@pytest.mark.anywhere
@pytest.mark.django_db
def test_confirmed_address_of_another_user_cannot_be_claimed(owner: User, stranger: User) -> None:
    browser = signed_in_by_form(owner)
    assert "already in use" in confirm(browser, request_change(browser, stranger.email))
    assert sorted(confirmed_emails()) == [owner.email, stranger.email]


@pytest.mark.usefixtures("fresh_database")
def test_parallel_confirmations_of_one_address_give_it_to_one_user() -> None:
    browsers = [signed_in_by_form(make_user(f"{name}@shop.example")) for name in ("jane", "joe")]
    codes = [request_change(browser) for browser in browsers]
    results = run_concurrently(2, lambda number: confirm(browsers[number], codes[number]))
    assert sum(f"{NEW} is confirmed" in text for text in results) == 1
    assert sum("already" in text for text in results) == 1
    assert NEW in confirmed_emails()
    assert len(confirmed_emails()) == 2
    assert AuditEntry.objects.filter(action="user.email_changed").count() == 1


@pytest.mark.usefixtures("fresh_database")
@pytest.mark.parametrize("second", [NEW, "other@shop.example"])
def test_parallel_confirmations_of_one_user_leave_one_address(second: str) -> None:
    user = make_user("jane@shop.example")
    browsers = [signed_in_by_form(user), signed_in_by_form(user)]
    codes = [request_change(browsers[0]), request_change(browsers[1], second)]
    results = run_concurrently(2, lambda number: confirm(browsers[number], codes[number]))
    assert any("is confirmed" in text for text in results), results
    assert not [result for result in results if isinstance(result, Exception)]
    assert list(confirmed_emails()) in ([NEW], [second])
    assert EmailAddress.objects.count() == 1


@pytest.mark.usefixtures("fresh_database")
def test_parallel_change_and_sign_up_confirm_one_user() -> None:
    changing, joining = signed_in_by_form(make_user("jane@shop.example")), Client()
    code = request_change(changing)
    joining.post("/accounts/signup/", {"email": NEW, "password1": PASSWORD})
    sign_up_code = code_in_email()
    attempts = [(changing, code), (joining, sign_up_code)]
    results = run_concurrently(2, lambda number: confirm(*attempts[number]))
    assert sum(f"{NEW} is confirmed" in text for text in results) == 1
    assert list(confirmed_emails()).count(NEW) == 1
