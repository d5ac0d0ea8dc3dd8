"""Creating lists, storing their parts, and deleting them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account
from apikeys.actor import Actor
from apikeys.errors import ApiError
from lists.lifecycle import delete_list
from lists.models import AddressList, ListPart
from lists.models.states import ListState
from lists.uploads.options import ListOptions
from lists.uploads.services import begin_parsing, create_list, store_part
from tests.lists.uploads import parse

pytestmark = pytest.mark.django_db


@pytest.fixture
def empty_list(account: Account) -> AddressList:
    return create_list(actor=Actor(account))


def test_list_is_named_after_its_file_or_the_time(account: Account) -> None:
    named = create_list(actor=Actor(account), options=ListOptions(name="Spring"), file_name="x.csv")
    from_file = create_list(actor=Actor(account), file_name="cus\u202etomers.csv" + "x" * 200)
    from_time = create_list(actor=Actor(account))
    assert named.name == "Spring"
    assert from_file.name.startswith("customers.csv") and len(from_file.name) == 100
    assert from_time.name.startswith("List of 20")


def test_upload_that_was_completed_in_between_is_not_canceled(empty_list: AddressList) -> None:
    store_part(address_list=empty_list, number=1, content=b"jane@shop.com")
    # As another request read it, before this one completed it.
    earlier = AddressList.objects.get()
    begin_parsing(address_list=empty_list)
    assert not delete_list(address_list=earlier, actor=Actor(earlier.account), only_uploading=True)
    assert AddressList.objects.get().state == ListState.PARSING
    assert ListPart.objects.exists()
    parse()
    with pytest.raises(ApiError, match="invalid_state"):
        begin_parsing(address_list=empty_list)
    with pytest.raises(ApiError, match="invalid_state"):
        store_part(address_list=earlier, number=2, content=b"b@shop.com")


def test_state_changes_only_to_what_may_follow(empty_list: AddressList) -> None:
    assert not empty_list.change_state(ListState.READY)
    assert empty_list.change_state(ListState.PARSING, leased_until=timezone.now())
    assert empty_list.change_state(ListState.FAILED, error_code="pdf")
    empty_list.refresh_from_db()
    assert (empty_list.state, empty_list.error_code) == (ListState.FAILED, "pdf")
    assert empty_list.leased_until is None
    expires = empty_list.expires_at and empty_list.expires_at - timezone.now()
    assert expires and timedelta(days=29) < expires <= timedelta(days=30)
