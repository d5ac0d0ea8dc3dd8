"""Feedback is exported, and deleted after 90 days, with its address, and with its account."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, User
from accounts.retention import erase_closed_accounts
from tests.validation.feedback.factory import NO_ADDRESS, make_feedback
from validation.erasure import count_rows, erase_address
from validation.feedback.data import delete_feedback, delete_old_feedback, export_feedback
from validation.models import Feedback

pytestmark = pytest.mark.django_db


def test_feedback_is_deleted_after_90_days(account: Account) -> None:
    with time_machine.travel(timezone.now() - timedelta(days=91)):
        make_feedback(account)
    with time_machine.travel(timezone.now() - timedelta(days=89)):
        recent = make_feedback(account)
    delete_old_feedback()
    assert Feedback.objects.get() == recent


def test_erasing_an_address_deletes_its_feedback(account: Account, owner: User) -> None:
    make_feedback(account)
    other = make_feedback(account, "another")
    found = count_rows(email=NO_ADDRESS, account=account)
    assert (found.requests, found.feedback) == (1, 1)
    assert found.summary == "1 request, 0 stored responses, and 1 message of feedback"
    assert erase_address(email=NO_ADDRESS, account=account, actor=owner) == 2
    assert Feedback.objects.get() == other


def test_erasing_for_one_account_keeps_the_feedback_of_others(
    account: Account, owner: User, stranger: User
) -> None:
    theirs = make_feedback(stranger.memberships.get().account)
    erase_address(email=NO_ADDRESS, account=account, actor=owner)
    assert Feedback.objects.get() == theirs


def test_erasing_an_account_deletes_its_feedback(account: Account) -> None:
    make_feedback(account)
    delete_feedback(account=account)
    assert not Feedback.objects.exists()


def test_erased_user_is_no_longer_the_sender_in_other_accounts(
    account: Account, owner: User, stranger: User
) -> None:
    theirs = make_feedback(stranger.memberships.get().account, user=owner)
    others = make_feedback(stranger.memberships.get().account, "another", user=stranger)
    Account.objects.filter(pk=account.pk).update(closed_at=timezone.now() - timedelta(days=31))
    erase_closed_accounts()
    for feedback in (theirs, others):
        feedback.refresh_from_db()
    assert (theirs.sent_by, others.sent_by) == ("", stranger.email)


def test_export_has_what_was_sent(account: Account, owner: User, stranger: User) -> None:
    feedback = make_feedback(account, user=owner)
    make_feedback(stranger.memberships.get().account)
    exported: Any = export_feedback(account=account)
    (row,) = exported["feedback"]
    assert (row["id"], row["sent_by"]) == (feedback.public_id, owner.email)
    assert (row["email"], row["comment"]) == (NO_ADDRESS, "I know them")
    assert (row["state"], row["answer"]) == ("open", "")


def test_export_survives_a_removed_secret_key(account: Account, settings: Settings) -> None:
    feedback = make_feedback(account)
    settings.SECRET_KEY = "another" * 10
    exported: Any = export_feedback(account=account)
    (row,) = exported["feedback"]
    assert (row["id"], row["verdict"]) == (feedback.public_id, "undeliverable")
    assert (row["email"], row["comment"], row["bounce"]) == ("", "", "")
