"""Invisible characters are refused in forms, and shown as code points elsewhere."""

import pytest
from django.test import Client

from accounts import emails
from accounts.models import Invitation, User
from runtime.models import Mail
from runtime.unicode import show_invisible, show_invisible_in_html
from tests.conftest import PASSWORD, signed_in

INVISIBLE = ["\u202e", "\u200b", "\u2066", "\u00ad", "\ufeff", "\U000e0041"]


@pytest.mark.parametrize("character", INVISIBLE)
def test_invisible_character_is_shown_as_its_code_point(character: str) -> None:
    assert show_invisible(f"a{character}b") == f"a[U+{ord(character):04X}]b"


def test_form_values_are_not_changed() -> None:
    fields = '<input value="a\u202eb"><textarea name="emails">\na\u202eb\n\u200b</textarea>'
    html = f'{fields}<p title="\u200b">a\u202eb</p>'
    shown = f'{fields}<p title="\u200b">a[U+202E]b</p>'
    assert show_invisible_in_html(html) == shown


@pytest.mark.parametrize(
    "text", ["jos\u00e9", "\u202fm\u00b2", "\u05d0\u05d1", "\U0001f600", "a\u0301"]
)
def test_visible_characters_are_not_changed(text: str) -> None:
    assert show_invisible(text) == text


@pytest.mark.anywhere
def test_address_with_invisible_character_cannot_sign_up_or_be_invited(owner: User) -> None:
    browser, visitor = signed_in(owner), Client()
    for character in INVISIBLE:
        email = f"jane@shop{character}s.com"
        for path, form in (
            ("/accounts/team/invite/", {"email": email, "role": "viewer"}),
            ("/accounts/email/", {"action_add": "", "email": email}),
        ):
            browser.post(path, form)
        form = {"email": email, "password1": PASSWORD, "typed_email": email}
        visitor.post("/accounts/signup/", form)
    assert not Invitation.objects.exists()
    assert not Mail.objects.exists()
    assert User.objects.count() == 1


def test_email_shows_invisible_characters(owner: User) -> None:
    account = owner.memberships.get().account
    account.name = "gro.\u202eelpmaxe"
    emails.queue_member_removed(account=account, to="jane@shop.example")
    mail = Mail.objects.get()
    for part in (mail.subject, mail.text, mail.html):
        assert "\u202e" not in part
    assert "[U+202E]" in mail.text
