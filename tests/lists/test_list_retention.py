"""What is deleted of lists, when, and what an account's export has of them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account, User
from accounts.retention import erase_closed_accounts
from accounts.services import open_account
from apikeys.actor import Actor
from credits.models import Hold, Wallet
from lists.deletion import batch_delete
from lists.deletion.retention import delete_lists, delete_unfinished_uploads, expire_lists
from lists.export import export_lists
from lists.models import (
    AddressList,
    DomainBlock,
    ListAddress,
    ListChunk,
    ListDomain,
    ListPart,
    ListUpload,
)
from lists.models.states import ListState
from lists.uploads.services import create_list, store_part
from runtime.jobs.daily import run_daily
from tests.conftest import make_user
from tests.lists.factory import make_started_list
from tests.lists.runs import work
from tests.lists.uploads import upload_and_parse

pytestmark = pytest.mark.django_db

CONTENT = (ListPart, ListChunk, ListAddress, ListDomain, DomainBlock)


def count_content() -> int:
    return sum(model._default_manager.count() for model in CONTENT)


def test_upload_that_was_not_finished_within_a_day_is_deleted(account: Account) -> None:
    old, new = (create_list(actor=Actor(account)) for _ in range(2))
    store_part(address_list=old, number=1, content=b"x")
    AddressList.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=24))
    delete_unfinished_uploads()
    assert AddressList.objects.get() == new
    assert not ListPart.objects.exists()


def test_record_of_an_upload_is_deleted_after_a_day(account: Account) -> None:
    create_list(actor=Actor(account))
    delete_unfinished_uploads()
    assert ListUpload.objects.count() == 1
    ListUpload.objects.update(at=timezone.now() - timedelta(hours=24))
    delete_unfinished_uploads()
    assert not ListUpload.objects.exists()


@pytest.mark.parametrize("state", [ListState.READY, ListState.COMPLETED, ListState.CANCELED])
def test_content_of_a_list_is_deleted_when_it_expires(account: Account, state: ListState) -> None:
    parsed = upload_and_parse(account, "a@shop.com\n")
    typos = {"shop.cmo": {"count": 1, "suggestion": "shop.com"}}
    AddressList.objects.update(state=state, typos=typos, reasons={"possible_typo": 1})
    expire_lists()
    assert count_content()
    AddressList.objects.update(expires_at=timezone.now())
    expire_lists()
    parsed.refresh_from_db()
    assert (parsed.state, parsed.rows, parsed.addresses) == (ListState.EXPIRED, 1, 1)
    assert (parsed.typos, parsed.reasons) == ({}, {"possible_typo": 1})
    assert not parsed.was_parsed and not count_content()


@pytest.mark.parametrize(
    "state", [ListState.QUEUED, ListState.RUNNING, ListState.PAUSED, ListState.RECHECKING]
)
def test_started_list_does_not_expire(account: Account, state: ListState) -> None:
    upload_and_parse(account, "a@shop.com\n")
    AddressList.objects.update(state=state, expires_at=timezone.now())
    expire_lists()
    assert AddressList.objects.get().state == state
    assert count_content()


def test_interrupted_deletions_are_completed(account: Account) -> None:
    upload_and_parse(account, "a@shop.com\n")
    upload_and_parse(account, "b@shop.com\n")
    AddressList.objects.update(state=ListState.FAILED)
    ListChunk.objects.all().delete()
    expire_lists()
    assert not count_content()
    assert AddressList.objects.count() == 2


def test_daily_job_erases_what_is_left_of_a_deleted_list(account: Account) -> None:
    hidden = upload_and_parse(account, "a@shop.com\n")
    upload_and_parse(account, "b@shop.com\n")
    batch_delete.hide_list(hidden)
    AddressList.deleted.update(leased_until=None)
    expire_lists()
    assert AddressList.objects.count() == 1
    assert not AddressList.deleted.exists()
    assert (ListChunk.objects.count(), ListAddress.objects.count()) == (1, 1)


def test_digests_of_lists_that_no_longer_exist_are_deleted(account: Account) -> None:
    gone, hidden, present = (upload_and_parse(account, f"a{n}@shop.com\n") for n in range(3))
    # As the previous release deleted large lists. The job that deleted their digests was later.
    gone.delete()
    # A list process erases it now.
    batch_delete.hide_list(hidden)
    assert ListAddress.objects.count() == 3
    expire_lists()
    assert set(ListAddress.objects.values_list("list", flat=True)) == {hidden.pk, present.pk}


def test_lists_of_an_erased_account_are_deleted(account: Account, stranger: object) -> None:
    upload_and_parse(account, "a@shop.com\n")
    theirs = Account.objects.exclude(pk=account.pk).get()
    upload_and_parse(theirs, "a@shop.com\n")
    delete_lists(account=account)
    assert AddressList.objects.get().account == theirs
    assert ListUpload.objects.get().account == theirs
    assert not AddressList.deleted.get().was_parsed
    work()
    assert not AddressList.deleted.exists()
    assert (ListChunk.objects.count(), ListAddress.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    "state", [ListState.UPLOADING, ListState.PARSING, ListState.READY, ListState.COMPLETED]
)
def test_daily_jobs_erase_the_lists_of_a_closed_account_completely(
    account: Account, state: ListState
) -> None:
    parsed = upload_and_parse(account, "a@shop.com\n")
    AddressList.objects.update(state=state, leased_until=timezone.now() + timedelta(seconds=30))
    ListPart.objects.create(list=parsed, number=1, size=1, content=b"x")
    Account.objects.update(closed_at=timezone.now() - timedelta(days=31))
    run_daily()
    account.refresh_from_db()
    assert account.erased_at is not None
    assert not AddressList._base_manager.exists()
    assert not count_content()


def test_running_list_of_a_closed_account_is_erased_without_its_hold(account: Account) -> None:
    make_started_list(account, ["a@shop.com", "b@shop.com"])
    Account.objects.update(closed_at=timezone.now() - timedelta(days=31))
    run_daily()
    assert not AddressList._base_manager.exists()
    assert not count_content()
    assert not Hold.objects.get().is_open


def test_deleting_an_account_deletes_its_hidden_lists(account: Account) -> None:
    upload_and_parse(account, "a@shop.com\n")
    theirs = open_account(user=make_user("other@shop.example"), name="Other")
    AddressList.objects.update(account=theirs)
    delete_lists(account=theirs)
    # The audit log allows it from then on.
    Account.objects.filter(pk=theirs.pk).update(closed_at=timezone.now(), erased_at=timezone.now())
    Wallet.objects.filter(account=theirs).delete()
    theirs.delete()
    expire_lists()
    assert not AddressList._base_manager.exists()
    assert not count_content()


def test_export_has_the_lists_with_their_counts_but_no_rows(account: Account) -> None:
    parsed = upload_and_parse(account, "a@shop.com\n", name="Spring", metadata={"a": "b"})
    lists = export_lists(account=account)["lists"]
    assert isinstance(lists, list)
    (exported,) = lists
    assert exported["public_id"] == parsed.public_id
    assert (exported["name"], exported["state"], exported["rows"]) == ("Spring", "ready", 1)
    assert exported["metadata"] == {"a": "b"}
    assert "a@shop.com" not in str(exported)


def test_erased_user_is_no_longer_the_creator_in_other_accounts(
    account: Account, owner: User, stranger: User
) -> None:
    elsewhere = stranger.memberships.get().account
    created = create_list(actor=Actor(elsewhere, user=owner))
    Account.objects.filter(pk=account.pk).update(closed_at=timezone.now() - timedelta(days=31))
    erase_closed_accounts()
    created.refresh_from_db()
    assert created.created_by == "erased"
