"""Feedback in the admin: the queue, and answers."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Account, AuditEntry, User
from accounts.roles import Role
from runtime.models import Mail
from tests.accounts.staff.staff_pages import client_in_group, visible_text
from tests.conftest import make_member, make_user, signed_in
from tests.validation.feedback.factory import make_feedback, make_result
from validation.feedback.services import answer_feedback
from validation.models import Feedback, FeedbackText, LogEntry, StoredResult

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

QUEUE = "/admin/validation/feedback/"


@pytest.fixture
def browser(staff: User) -> Client:
    return signed_in(staff)


def answer_url(feedback: Feedback) -> str:
    return reverse("admin:validation_feedback_answer", args=[feedback.pk])


def test_staff_see_the_full_address_comment_and_bounce(browser: Client, account: Account) -> None:
    feedback = make_feedback(account, "jane.doe.example.com")
    page = browser.get(f"{QUEUE}{feedback.pk}/change/").content.decode()
    for text in ("jane.doe.example.com", "I know them", "550 no such user", "Answer"):
        assert text in page
    assert feedback.packed not in page


def test_queue_is_filtered_by_reason(browser: Client, account: Account) -> None:
    made = [make_feedback(account), make_feedback(account, "jane@invalid.test")]
    page = browser.get(f"{QUEUE}?reason=invalid_syntax").content.decode()
    assert [one.public_id in page for one in made] == [True, False]
    assert "invalid_syntax (1)" in browser.get(QUEUE).content.decode()


def test_answer_is_stored_audited_and_emailed_to_the_sender(
    browser: Client, account: Account, staff: User
) -> None:
    member = make_member(account, Role.DEVELOPER)
    feedback = make_feedback(account, user=member)
    response = browser.post(answer_url(feedback), {"answer": "You are right."}, follow=True)
    assert f"Answered {feedback}." in response.content.decode()
    feedback.refresh_from_db()
    assert (feedback.state, feedback.answer) == ("answered", "You are right.")
    entry = AuditEntry.objects.get(action="feedback.answered")
    assert (entry.account, entry.actor, entry.target) == (account, staff, feedback.public_id)
    mail = Mail.objects.get(subject__contains=feedback.public_id)
    assert mail.to == member.email
    assert "You are right." in mail.text
    assert "/validation/requests/req_00000000000000000001/" in mail.text


def test_answer_goes_to_owners_and_admins_if_the_sender_left(
    account: Account, owner: User, staff: User
) -> None:
    make_member(account, Role.VIEWER)
    admin = make_member(account, Role.ADMIN)
    feedback = make_feedback(account, user=make_user("left@shop.example"))
    answer_feedback(feedback=feedback, answer="Yes", actor=staff)
    mails = Mail.objects.filter(subject__contains=feedback.public_id)
    assert {mail.to for mail in mails} == {owner.email, admin.email}


def test_feedback_is_answered_once(account: Account, staff: User) -> None:
    feedback = make_feedback(account)
    assert answer_feedback(feedback=feedback, answer="Yes", actor=staff)
    assert not answer_feedback(feedback=feedback, answer="No", actor=staff)
    feedback.refresh_from_db()
    assert feedback.answer == "Yes"


def test_feedback_on_a_domain_links_to_the_form_for_it(browser: Client, account: Account) -> None:
    feedback = make_feedback(account, "jane@invalid.test", expected="disposable")
    page = browser.get(f"{QUEUE}{feedback.pk}/change/").content.decode()
    query = f"?reason=Feedback+{feedback}&amp;domain=invalid.test&amp;kind="
    for kind in ("deny", "allow"):
        assert f"/admin/validation/listeddomain/add/{query}{kind}" in page
    form = browser.get("/admin/validation/listeddomain/add/?domain=invalid.test&kind=deny")
    assert 'value="invalid.test"' in form.content.decode()


def test_page_shows_the_result_once_it_is_not_stored(browser: Client, account: Account) -> None:
    feedback = make_feedback(account, "jane@invalid.test")
    StoredResult.objects.all().delete()
    text = visible_text(browser.get(f"{QUEUE}{feedback.pk}/change/").content.decode())
    assert "What we said undeliverable reserved_domain The domain is reserved" in text
    assert "Failed Reserved domain" in text


def test_earlier_feedback_shows_its_verdict_once_the_result_is_deleted(
    browser: Client, account: Account
) -> None:
    feedback = make_feedback(account, "jane@invalid.test")
    Feedback.objects.update(packed=Feedback.pack(FeedbackText("jane@invalid.test", "", "")))
    page = f"{QUEUE}{feedback.pk}/change/"
    assert "Failed Reserved domain" in visible_text(browser.get(page).content.decode())
    StoredResult.objects.all().delete()
    text = visible_text(browser.get(page).content.decode())
    assert "undeliverable reserved_domain The rest of the result is no longer stored." in text
    text = visible_text(browser.post(page).content.decode())
    assert "The stored result has expired, so it can’t be compared." in text


def test_check_now_shows_what_changed_and_is_free(browser: Client, account: Account) -> None:
    feedback = make_feedback(account, "jane@invalid.test")
    document = {**(feedback.result or {}), "verdict": "risky", "reason": "disposable"}
    text = feedback.text._replace(result=json.dumps(document))
    Feedback.objects.update(packed=Feedback.pack(text))
    before = (LogEntry.objects.count(), account.wallet.balance)
    page = browser.post(f"{QUEUE}{feedback.pk}/change/").content.decode()
    shown = visible_text(page)
    assert "verdict risky undeliverable" in shown
    assert "reason disposable reserved_domain" in shown
    assert "Check again" in shown
    account.wallet.refresh_from_db()
    assert (LogEntry.objects.count(), account.wallet.balance) == before


def test_front_page_counts_feedback_by_reason(browser: Client, account: Account) -> None:
    feedback = make_feedback(account)
    make_result(account)
    page = browser.get("/admin/").content.decode()
    assert f"{QUEUE}{feedback.pk}/change/" in page
    assert f"{QUEUE}?reason=invalid_syntax" in page


def test_only_support_sees_feedback(account: Account) -> None:
    feedback = make_feedback(account)
    for name, expected in (("Support", 200), ("Finance", 403)):
        response = client_in_group(name).get(f"{QUEUE}{feedback.pk}/change/")
        assert response.status_code == expected


def test_staff_do_not_answer_their_own_account(account: Account, owner: User) -> None:
    owner.is_staff = owner.is_superuser = True
    owner.save()
    feedback = make_feedback(account)
    response = signed_in(owner).post(answer_url(feedback), {"answer": "Yes"}, follow=True)
    assert "You are a member of this account" in response.content.decode()
    feedback.refresh_from_db()
    assert feedback.is_open
