"""Changing to a new address, also while others claim it."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.contrib.messages import get_messages
from django.test import Client

from accounts.models import Account, AuditEntry, User
from runtime.models import Mail
from tests.conftest import PASSWORD, make_user, signed_in
from tests.support.fresh_database import at_once

NEW = "new@shop.example"
CONFIRM = "/accounts/confirm-email/"


def ask(browser: Client, email: str = NEW) -> str:
    """Ask for the change. Returns the code that is sent to the new address."""
    browser.post("/accounts/email/", {"action_add": "", "email": email})
    text = Mail.objects.filter(to=email).latest("pk").text
    code = re.search(r"^([A-Z0-9]{4}-[A-Z0-9]{4})$", text, re.M)
    assert code
    return code[1]


def confirm(browser: Client, code: str) -> str:
    """Returns what the user reads."""
    answer = browser.post(CONFIRM, {"code": code})
    assert answer.status_code in (200, 302)
    read = [str(message) for message in get_messages(answer.wsgi_request)]
    return " ".join([*read, answer.content.decode()])


def emails() -> dict[str, str]:
    """Of each user, the confirmed address."""
    verified = EmailAddress.objects.filter(verified=True, primary=True)
    found = {address.user.email: address.email for address in verified.select_related("user")}
    assert all(user == address for user, address in found.items())
    return found


@pytest.mark.django_db
def test_a_sign_up_that_was_never_confirmed_does_not_stop_a_change(owner: User) -> None:
    Client().post("/accounts/signup/", {"email": NEW, "password1": PASSWORD})
    browser = signed_in(owner)
    assert f"{NEW} is confirmed" in confirm(browser, ask(browser))
    assert list(User.objects.values_list("email", flat=True)) == [NEW]
    assert list(emails()) == [NEW]
    assert Account.objects.filter(closed_at=None).count() == 1


@pytest.mark.django_db
def test_a_sign_up_after_the_change_was_asked_for_does_not_stop_it(owner: User) -> None:
    browser = signed_in(owner)
    code = ask(browser)
    late = Client()
    late.post("/accounts/signup/", {"email": NEW, "password1": PASSWORD})
    late_code = Mail.objects.latest("pk").text.split("\n\n")[1]
    assert f"{NEW} is confirmed" in confirm(browser, code)
    # The sign-up is void: its code opens nothing.
    assert "Incorrect code" in confirm(late, late_code)
    assert late.get("/validation/").status_code == 302
    assert list(emails()) == [NEW]


@pytest.mark.django_db
def test_asking_for_a_change_leaves_a_sign_up_alone_until_it_is_confirmed(owner: User) -> None:
    Client().post("/accounts/signup/", {"email": NEW, "password1": PASSWORD})
    ask(signed_in(owner))
    assert User.objects.filter(email=NEW).exists()


@pytest.mark.django_db
def test_a_confirmed_address_of_another_user_is_not_taken_over(owner: User, stranger: User) -> None:
    browser = signed_in(owner)
    assert "already registered" in confirm(browser, ask(browser, stranger.email))
    assert sorted(emails()) == [owner.email, stranger.email]


@pytest.mark.usefixtures("fresh_database")
def test_two_users_who_confirm_the_same_address_at_the_same_time() -> None:
    browsers = [signed_in(make_user(f"{name}@shop.example")) for name in ("jane", "joe")]
    codes = [ask(browser) for browser in browsers]
    answers = at_once(2, lambda one: confirm(browsers[one], codes[one]))
    assert sum(f"{NEW} is confirmed" in read for read in answers) == 1
    assert sum("already" in read for read in answers) == 1
    assert NEW in emails()
    assert len(emails()) == 2
    assert AuditEntry.objects.filter(action="user.email_changed").count() == 1


@pytest.mark.usefixtures("fresh_database")
@pytest.mark.parametrize("second", [NEW, "other@shop.example"])
def test_one_user_who_confirms_two_changes_at_the_same_time(second: str) -> None:
    user = make_user("jane@shop.example")
    browsers = [signed_in(user), signed_in(user)]
    codes = [ask(browsers[0]), ask(browsers[1], second)]
    answers = at_once(2, lambda one: confirm(browsers[one], codes[one]))
    assert any("is confirmed" in read for read in answers), answers
    assert not [read for read in answers if isinstance(read, Exception)]
    assert list(emails()) in ([NEW], [second])
    assert EmailAddress.objects.count() == 1


@pytest.mark.usefixtures("fresh_database")
def test_a_change_and_a_sign_up_that_are_confirmed_at_the_same_time() -> None:
    changing, joining = signed_in(make_user("jane@shop.example")), Client()
    code = ask(changing)
    joining.post("/accounts/signup/", {"email": NEW, "password1": PASSWORD})
    sign_up_code = Mail.objects.latest("pk").text.split("\n\n")[1]
    tries = [(changing, code), (joining, sign_up_code)]
    answers = at_once(2, lambda one: confirm(*tries[one]))
    assert sum(f"{NEW} is confirmed" in read for read in answers) == 1
    assert list(emails()).count(NEW) == 1
