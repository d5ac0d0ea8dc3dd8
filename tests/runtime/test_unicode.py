"""What nobody can see is refused where people type, and shown as what it is where it got in."""

import pytest

from accounts import emails
from accounts.models import Invitation, User
from runtime.models import Mail
from runtime.unicode import show_invisible, show_invisible_in_html
from tests.conftest import PASSWORD, signed_in

UNSEEN = ["\u202e", "\u200b", "\u2066", "\u00ad", "\ufeff", "\U000e0041"]


@pytest.mark.parametrize("letter", UNSEEN)
def test_what_cannot_be_seen_is_named(letter: str) -> None:
    assert show_invisible(f"a{letter}b") == f"a[U+{ord(letter):04X}]b"


def test_a_form_gets_back_what_it_was_given() -> None:
    html = '<input value="a\u202eb"><p title="\u200b">a\u202eb</p>'
    shown = '<input value="a\u202eb"><p title="\u200b">a[U+202E]b</p>'
    assert show_invisible_in_html(html) == shown


@pytest.mark.parametrize(
    "text", ["jos\u00e9", "\u202fm\u00b2", "\u05d0\u05d1", "\U0001f600", "a\u0301"]
)
def test_what_can_be_seen_is_left_alone(text: str) -> None:
    assert show_invisible(text) == text


@pytest.mark.django_db
@pytest.mark.parametrize("letter", UNSEEN)
def test_no_address_with_it_is_invited_or_signs_up(letter: str, owner: User) -> None:
    email = f"jane@shop{letter}s.com"
    browser = signed_in(owner)
    for path, form in (
        ("/accounts/team/invite/", {"email": email, "role": "viewer"}),
        ("/accounts/email/", {"action_add": "", "email": email}),
        ("/accounts/signup/", {"email": email, "password1": PASSWORD, "typed_email": email}),
    ):
        browser.post(path, form)
    browser.post("/accounts/logout/")
    browser.post("/accounts/signup/", {"email": email, "password1": PASSWORD, "typed_email": email})
    assert not Invitation.objects.exists()
    assert not Mail.objects.exists()
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_a_mail_shows_it_too(owner: User) -> None:
    account = owner.memberships.get().account
    account.name = "gro.\u202eelpmaxe"
    emails.queue_member_removed(account=account, to="jane@shop.example")
    mail = Mail.objects.get()
    for part in (mail.subject, mail.text, mail.html):
        assert "\u202e" not in part
    assert "[U+202E]" in mail.text
