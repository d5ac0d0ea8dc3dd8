"""Names can't contain links, and emails don't turn names into links."""

import re
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from accounts import emails, services, team
from accounts.models import Account, User
from accounts.names import format_for_email, quoted_name, validate_name
from accounts.roles import Role
from apikeys.models import ApiKey
from apikeys.services import create_key
from runtime.models import Mail
from tests.conftest import make_user, signed_in

pytestmark = pytest.mark.anywhere

REFUSED = [
    *("PayPal Support https://evil.example", "ftp://evil.example", "www.evil.example"),
    *("Go to WWW.evil.example", "jane@shop.example", "@jane", "evil.example/login", "bit.ly/abc"),
    *("http:evil.example", "evil.example?x=1", "evil.example:80", "evil.example#1", "tel:+491"),
    *("mailto:x", "1.1.1.1", "[2001:db8::1]", "evil。example/login", "WWW｡evil.example"),
    # Look-alikes that a mail client may normalize, and control characters.
    *(
        *("https：//evil.example", "ｗｗｗ.evil.example", "jane＠shop.example", "a\u202eb", "a\nb"),
        "a\x00b",
    ),
]
ALLOWED = [
    *("The Shop", "Booking.com", "Node.js", "S.p.A. & Söhne", "R/D", "24/7 café", "Awwww. Hi"),
    "#1",
]
LINK = re.compile(r"://|www\.|@|\w[.。．]\w")


@pytest.mark.parametrize("name", REFUSED)
def test_name_with_a_link_an_address_or_a_control_character_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        validate_name(name)


@pytest.mark.parametrize("name", ALLOWED)
def test_ordinary_name_is_accepted(name: str) -> None:
    validate_name(name)
    assert format_for_email(name) == name


@pytest.mark.django_db
def test_each_form_refuses_a_name_with_a_link(owner: User) -> None:
    name, browser = "Support https://evil.example", signed_in(owner)
    key_fields = {"form_token": "x" * 32, "lifetime": ""}
    accounts = ("/accounts/profile/", "/accounts/account/rename/", "/accounts/account/open/")
    for path in (*accounts, "/apikeys/create/"):
        page = browser.post(path, {"name": name, **key_fields}).content.decode()
        assert "A name can’t hold a link or an email address." in page, path
    assert not Account.objects.filter(name=name).exists()
    assert not User.objects.filter(name=name).exists()
    assert not ApiKey.objects.exists()


@pytest.mark.django_db
def test_address_that_looks_like_a_link_does_not_become_the_account_name() -> None:
    user = make_user("www.evil.example@shop.example")
    assert services.open_account(user=user).name == "My account"


def visible_parts(mail: Mail) -> list[str]:
    """Return subject, text, and HTML, without the product's own links."""
    own_links = r"http://127\.0\.0\.1:8000\S*|support@example\.com|email-validation\.\w+"
    html = re.sub(r"<style>.*?</style>|<[^>]*>", "", mail.html, flags=re.DOTALL)
    return [re.sub(own_links, "", part) for part in (mail.subject, mail.text, html)]


def rename_without_validation(user: User, name: str) -> Account:
    """Save a name without validation, as in rows older than `validate_name`."""
    account = user.memberships.get().account
    user.name = account.name = name
    user.save()
    account.save()
    return account


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    [
        # PostgreSQL stores no NUL.
        *(name for name in REFUSED if "\0" not in name),
        *("paypal.com", "evil。example", "a\n\nhttps://evil.example\n\nb", "x" * 100),
    ],
)
def test_invitation_email_contains_no_link_but_its_own(owner: User, name: str) -> None:
    account = rename_without_validation(owner, name)
    team.invite_member(account=account, email="new@shop.example", role=Role.VIEWER, actor=owner)
    mail = Mail.objects.get()
    for part in visible_parts(mail):
        assert not LINK.search(part), part
    assert len(mail.subject) < 150
    assert mail.html.count("<a ") == 1
    assert mail.subject.startswith("Email Validation: “")


@pytest.mark.django_db
def test_other_emails_break_up_links_in_older_names(owner: User) -> None:
    for name in ("Support https://evil.example", "www.evil.example", "a@b.example"):
        account = rename_without_validation(owner, name)
        emails.queue_account_closed(account=account, to=owner.email)
        emails.queue_member_removed(account=account, to=owner.email)
        create_key(account=account, name=name, actor=owner)
    for mail in Mail.objects.all():
        for part in visible_parts(mail):
            assert not LINK.search(part), part
    assert Mail.objects.count() == 3 * 3


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("email", "shown"),
    [
        ("jane@shop.example", "jane@shop.example"),
        ("evil.example/login@shop.example", "A team member"),
        ("www.evil.example@shop.example", "A team member"),
        (f"{'x' * 50}@shop.example", "A team member"),
    ],
)
def test_inviter_without_a_name_is_shown_by_address_only_if_it_is_plain(
    email: str, shown: str
) -> None:
    user = make_user(email)
    account = services.open_account(user=user, name="The Shop")
    team.invite_member(account=account, email="new@shop.example", role=Role.VIEWER, actor=user)
    assert Mail.objects.get().subject == f"Email Validation: {shown} invited you to “The Shop”"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Jane", "“Jane”"),
        ("Node.js", "“Node. js”"),
        ("PayPal” says “hi", "“PayPal' says 'hi”"),
        ("x" * 51, f"“{'x' * 49}…”"),
        ("  a \n b ", "“a b”"),
    ],
)
def test_name_is_quoted_and_shortened(name: str, shown: str) -> None:
    assert quoted_name(name) == shown


@pytest.mark.django_db
def test_subject_of_each_rate_limited_email_starts_with_the_product_name(
    owner: User, account: Account
) -> None:
    contexts: dict[str, dict[str, Any]] = {
        "accounts/mails/invitation": {"account": account, "inviter": "“Jane”"},
        "reference/mails/opt_out": {"domain": "shop.example"},
    }
    templates = {name for name in emails.RATE_LIMITED_TEMPLATES if not name.endswith(DISABLED)}
    for template in sorted(templates):
        to = f"{template.rpartition('/')[2]}@shop.example"
        assert emails.queue_email(to, template, contexts.get(template, {}))
        assert Mail.objects.get(to=to).subject.startswith("Email Validation: ")


DISABLED = ("login_code", "unknown_account")
