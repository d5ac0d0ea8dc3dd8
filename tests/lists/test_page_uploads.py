"""The requests with which the page of a new list uploads a file in parts."""

import base64
import hashlib
from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, AuditEntry
from credits.models import Plan
from lists.models import AddressList, ListPart
from lists.models.states import ListState
from tests.lists.uploads import parse

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE = "/lists/"
FORM = {"file_name": "customers.csv", "file_size": "40", "dedupe": "mailbox", "name": ""}
PARTS = [b"jane@reserved.test\n", b"joe@reserved.test\n"]


def create(browser: Client, **form: str) -> Any:
    response = browser.post(f"{PAGE}uploads/", FORM | form)
    assert response.status_code == 200, response.content
    return response.json()


def send_part(
    browser: Client, upload: Any, number: int, content: bytes, digest: bytes | None = None
) -> Any:
    encoded = base64.b64encode(digest or hashlib.sha256(content).digest()).decode()
    return browser.post(
        upload["part"].replace("/0/", f"/{number}/"),
        content,
        content_type="application/octet-stream",
        headers={"Content-Digest": f"sha-256=:{encoded}:"},
    )


def test_file_is_uploaded_in_parts_and_parsed(browser: Client) -> None:
    upload = create(browser)
    for number in (2, 1):
        assert send_part(browser, upload, number, PARTS[number - 1]).status_code == 200
    response = browser.post(upload["finish"])
    address_list = AddressList.objects.get()
    assert response.json() == {"page": f"{PAGE}{address_list.public_id}/"}
    assert (address_list.name, address_list.dedupe) == ("customers.csv", "mailbox")
    assert (parse().state, parse_again(browser, upload)) == (ListState.READY, ListState.READY)
    assert AddressList.objects.get().addresses == 2


def parse_again(browser: Client, upload: Any) -> str:
    """Finish the upload again, as after a lost response, and return the state."""
    assert browser.post(upload["finish"]).status_code == 200
    return AddressList.objects.get().state


def test_interrupted_upload_says_which_parts_are_stored(browser: Client) -> None:
    upload = create(browser)
    send_part(browser, upload, 2, PARTS[1])
    found = browser.get(upload["upload"]).json()
    assert found == upload | {"parts": {"2": hashlib.sha256(PARTS[1]).hexdigest()}}
    assert found["is_open"] is True
    send_part(browser, upload, 1, PARTS[0])
    browser.post(upload["finish"])
    assert browser.get(upload["upload"]).json()["is_open"] is False


def test_file_beyond_the_plan_is_refused_before_any_part(browser: Client) -> None:
    response = browser.post(f"{PAGE}uploads/", FORM | {"file_size": str((10 << 20) + 1)})
    assert response.status_code == 400
    assert response.json() == {
        "code": "list_too_large",
        "message": "Unfinished lists can have 10 MB in all. Delete one, or upgrade.",
    }
    assert not AddressList.objects.exists()


def test_limit_of_the_day_is_checked_before_any_part(browser: Client, account: Account) -> None:
    account.list_uploads.create(bytes=30 << 20)
    response = browser.post(f"{PAGE}uploads/", FORM)
    assert response.status_code == 429
    assert "You can upload up to 30 MB in 24 hours. Try again at" in response.json()["message"]


def test_wrong_form_says_which_field_is_wrong(browser: Client) -> None:
    for form, message in (
        ({"name": "x" * 101}, "Name (optional): Ensure this value has at most 100 characters"),
        ({"dedupe": "twice"}, "Duplicates: Select a valid choice."),
        ({"file_size": "0"}, "File size: Ensure this value is greater than or equal to 1."),
        ({"file_name": ""}, "File name: This field is required."),
    ):
        response = browser.post(f"{PAGE}uploads/", FORM | form)
        assert response.status_code == 400
        assert response.json()["message"].startswith(message)


def test_damaged_or_too_large_part_can_be_sent_again(browser: Client) -> None:
    upload = create(browser)
    response = send_part(browser, upload, 1, PARTS[0], digest=b"x" * 32)
    assert response.status_code == 400
    assert response.json()["message"] == "A part of the file arrived damaged. Try again."
    assert send_part(browser, upload, 1, b"x" * ((8 << 20) + 1)).status_code == 413
    assert not ListPart.objects.exists()
    assert send_part(browser, upload, 1, PARTS[0]).status_code == 200


def test_canceled_upload_leaves_nothing(browser: Client) -> None:
    upload = create(browser)
    send_part(browser, upload, 1, PARTS[0])
    assert browser.post(upload["cancel"]).json() == {}
    assert not AddressList.objects.exists()
    assert not ListPart.objects.exists()
    assert AuditEntry.objects.filter(action="list.deleted").exists()
    assert browser.get(upload["upload"]).status_code == 404
    assert send_part(browser, upload, 2, PARTS[1]).status_code == 404


def test_complete_upload_is_not_canceled(browser: Client) -> None:
    upload = create(browser)
    send_part(browser, upload, 1, PARTS[0])
    browser.post(upload["finish"])
    assert browser.post(upload["cancel"]).json() == browser.post(upload["finish"]).json()
    assert AddressList.objects.get().state == ListState.PARSING


def test_limit_of_a_higher_plan_is_on_the_page(browser: Client, account: Account) -> None:
    plan = Plan.objects.get(code="starter")
    account.subscription.plan = plan
    account.subscription.save()
    page = browser.get(f"{PAGE}create/").content.decode()
    assert f'data-max-bytes="{plan.list_bytes}"' in page
    assert f"{plan.list_bytes >> 20} MB, your plan's limit" in page
