"""Settings → Notifications: which emails an account can turn off."""

import re
from html import unescape

import pytest
from django.db import transaction
from django.test import Client

from accounts.events.types import event_types
from accounts.models import Account, AuditEntry, MutedEmail, User
from accounts.roles import Role
from runtime.models import Mail
from tests.conftest import make_member, signed_in
from tests.site.email_examples import Examples
from tests.site.test_emails import EMAILS

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE, FORM = "/accounts/notifications/", "/accounts/notifications/change/"
# Templates of the emails about a type of event.
OPTIONAL = {
    "credits/mails/low_balance": "credits.low",
    "credits/mails/zero_balance": "credits.exhausted",
    "credits/mails/unusual_usage": "usage.unusual",
    "apikeys/mails/key_expires": "key.expiring",
    "apikeys/mails/key_limit_near": "key.credit_limit_reached",
    "apikeys/mails/key_limit_reached": "key.credit_limit_reached",
    "lists/mails/list_failed": "list.failed",
    "lists/mails/list_results": "list.results_ready",
    "validation/mails/feedback_answered": "feedback.answered",
}
LINK = "Turn this email off in Settings → Notifications"


def boxes(page: str, attribute: str) -> list[str]:
    found = re.findall(r'<input\s+type="checkbox"\s+name="emails"\s+value="([^"]*)"([^>]*)>', page)
    return [name for name, attributes in found if attribute in attributes]


def checked_boxes(page: str) -> list[str]:
    return boxes(page, "checked")


def queue(owner: User, account: Account, template: str) -> list[Mail]:
    """Return what an example queues. Nothing is kept."""
    with transaction.atomic():
        last = Mail.objects.order_by("pk").values_list("pk", flat=True).last() or 0
        Examples(owner, account).examples()[template]()
        mails = list(Mail.objects.filter(pk__gt=last))
        transaction.set_rollback(True)
    return mails


def test_only_optional_emails_link_to_the_page_and_can_be_turned_off(
    owner: User, account: Account
) -> None:
    sent = {template: queue(owner, account, template) for template in EMAILS}
    MutedEmail.objects.bulk_create(
        MutedEmail(account=account, type=name) for name in set(OPTIONAL.values())
    )
    for template, mails in sent.items():
        optional = [mail.subject for mail in mails if LINK in mail.text]
        assert optional == [mail.subject for mail in mails if LINK in unescape(mail.html)]
        assert len(optional) == (1 if template in OPTIONAL else 0), template
        still_sent = [mail.subject for mail in mails if mail.subject not in optional]
        assert [mail.subject for mail in queue(owner, account, template)] == still_sent, template


def test_form_turns_emails_off_and_on_for_this_account(
    account: Account, browser: Client, stranger: User
) -> None:
    everything = [event_type.name for event_type in event_types if event_type.is_emailed]
    assert sorted(everything) == sorted(set(OPTIONAL.values()))
    assert sorted(checked_boxes(browser.get(PAGE).content.decode())) == sorted(everything)
    off = {"list.failed", "credits.low"}
    wanted = [name for name in everything if name not in off]
    page = browser.post(FORM, {"emails": wanted}, follow=True).content.decode()
    assert "The notifications were saved." in page
    assert set(checked_boxes(page)) == set(wanted)
    # Saved again, nothing changes.
    browser.post(FORM, {"emails": wanted})
    browser.post(FORM, {"emails": [*wanted, "list.failed", "unknown", "\0"]})
    entries = AuditEntry.objects.filter(action="notifications.changed").order_by("pk")
    targets = ["credits.low off, list.failed off", "list.failed on"]
    assert [entry.target for entry in entries] == targets
    assert list(MutedEmail.objects.values_list("account", "type")) == [(account.pk, "credits.low")]
    assert len(checked_boxes(signed_in(stranger).get(PAGE).content.decode())) == len(everything)


def test_members_who_may_not_change_emails_see_who_may(account: Account) -> None:
    page = signed_in(make_member(account, Role.DEVELOPER)).get(PAGE).content.decode()
    assert "To change these emails, ask an owner or admin." in page
    assert "Save notifications" not in page
    assert len(boxes(page, "disabled")) == len(set(OPTIONAL.values()))
