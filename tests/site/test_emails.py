"""Every email: one layout, one button at most, and the same facts in text and HTML."""

import re
from html import unescape

import pytest
from django.conf import settings
from django.db import transaction
from pytest_django import DjangoDbBlocker

from accounts.models import Account, User
from runtime.mail.outbox import Mail
from tests.conftest import sign_up_owner
from tests.servers.product import ROOT
from tests.site.email_examples import Examples

TEMPLATES = ROOT / "templates"
SUFFIX = "_message.txt"
EMAILS = sorted(
    path.relative_to(TEMPLATES).as_posix().removesuffix(SUFFIX)
    for folder in ("mails", "email")
    for path in TEMPLATES.glob(f"*/{folder}/*{SUFFIX}")
    if not path.name.startswith("base_")
)
# In text between tags, and in the text part.
LEFTOVER = re.compile(r"\{\{|\}\}|\{%|%\}|None|&lt;|&amp;|</?\w+ ?[a-z]*=?>")
UNGROUPED_NUMBER = re.compile(r"(?<![\w.:/#-])\d{5,}(?![\w-])")
INVISIBLE = re.compile(r"<style>.*?</style>|<title>.*?</title>", re.DOTALL)
LIGHT = {"#16181d", "#505866", "#4a42d8"}


def _queue_alone(owner: User, account: Account, template: str) -> Mail:
    """Queue an email for which none of the others has changed anything."""
    with transaction.atomic():
        mail = Examples(owner, account).queue(template)
        transaction.set_rollback(True)
    return mail


@pytest.fixture(scope="module")
def mails(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> dict[str, Mail]:
    with django_db_blocker.unblock(), transaction.atomic():
        owner = sign_up_owner()
        account = Account.objects.get(memberships__user=owner)
        mails = {template: _queue_alone(owner, account, template) for template in EMAILS}
        transaction.set_rollback(True)
    return mails


def visible_text(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", " ", INVISIBLE.sub("", html)))


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[\w@.:/,$€-]+", text))


def test_every_email_has_an_example(owner: User, account: Account) -> None:
    assert sorted(Examples(owner, account).examples()) == EMAILS


def test_every_email_is_stored_on_each_database(mails: dict[str, Mail], db: None) -> None:
    """All other tests read the emails of one database."""
    for template, mail in mails.items():
        assert mail.subject, template
        assert mail.text, template
        assert mail.html, template


def test_every_email_has_a_preheader_and_the_layout(mails: dict[str, Mail]) -> None:
    for mail in mails.values():
        preheader = re.search(
            r'<div style="display:none[^>]*>\s*(\S.*?)\s*&#8199;', mail.html, re.S
        )
        assert preheader, mail.html
        assert "You're receiving this email because" in mail.text
        assert '<html lang="en">' in mail.html
        assert '<meta name="color-scheme" content="light dark">' in mail.html
        for text in (mail.text, visible_text(mail.html)):
            assert "Email Validation" in text
            assert "Questions? Email support@example.com" in text


def test_email_loads_nothing(mails: dict[str, Mail]) -> None:
    for mail in mails.values():
        assert not re.search(r"<img|<link|<script|url\(|@import|src=", mail.html), mail.subject


def test_email_has_one_button_at_most_and_its_links_in_both_parts(mails: dict[str, Mail]) -> None:
    for mail in mails.values():
        buttons = re.findall(r'<a class="email-button" href="([^"]*)"', mail.html)
        assert len(buttons) <= 1, mail.subject
        for url in map(unescape, buttons):
            assert f"\n{url}\n" in mail.text
            assert url in visible_text(mail.html)
        links = set(map(unescape, re.findall(r'href="([^"]*)"', mail.html)))
        lines = {line for line in mail.text.splitlines() if line.startswith("http")}
        # The last line is the product's URL, which isn't linked in HTML.
        assert lines == links | {mail.text.splitlines()[-1]}, mail.subject


def test_text_and_html_state_the_same_facts(mails: dict[str, Mail]) -> None:
    for mail in mails.values():
        html = visible_text(mail.html) + " ".join(re.findall(r'href="([^"]*)"', mail.html))
        missing = words_of(mail.text) - words_of(unescape(html))
        # The text has a colon after the label of a link.
        assert {word for word in missing if word.rstrip(":") not in html} == set(), mail.subject


def test_no_template_syntax_broken_sentence_or_ungrouped_number_is_left(
    mails: dict[str, Mail],
) -> None:
    for mail in mails.values():
        for part in (mail.subject, mail.text, visible_text(mail.html)):
            assert not LEFTOVER.search(part), part
            assert "\n\n\n" not in mail.text
        assert not re.search(r"<br>(?!http)[a-z]", mail.html)
        # The operator writes the payment details.
        for part in (mail.subject, mail.text.replace(settings.INVOICE_PAYMENT_DETAILS, "")):
            assert not UNGROUPED_NUMBER.search(part), part


def test_text_on_dark_background_has_its_dark_color(mails: dict[str, Mail]) -> None:
    """An element with a color of the light theme needs the class that changes it."""
    for mail in mails.values():
        for tag in re.findall(r"<[^>]*style=[^>]*>", mail.html):
            color = re.search(r"(?<!-)color:(#\w{6})", tag)
            if color and color[1] in LIGHT:
                assert re.search(r'class="[^"]*email-(?:ink|muted|link|code)\b', tag), tag
