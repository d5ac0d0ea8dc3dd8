"""Uploading a list on the pages, choosing its column, and starting it."""

import re
from pathlib import Path
from typing import cast

import pytest
from django.contrib.staticfiles.finders import find
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Account
from credits.models import Wallet
from lists.models import AddressList
from lists.models.states import ListState
from tests.lists.pages import PAGE, show, state_of, url
from tests.lists.runs import work
from tests.support.hostile_text import HOSTILE, INVISIBLE

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

# Addresses of reserved domains have a definite verdict without the DNS, and cost 1 credit each.
CSV = b"""id,name,email
1,Jane,jane@reserved.test
2,Joe,joe@reserved.test
3,Jane,JANE@reserved.test
"""


def upload(browser: Client, content: bytes = CSV, name: str = "customers.csv") -> AddressList:
    form = {"file": SimpleUploadedFile(name, content), "dedupe": "address"}
    response = browser.post(f"{PAGE}create/", form)
    assert response.status_code == 302, response.content.decode()
    work()
    return AddressList.objects.get(public_id=response.headers["Location"].split("/")[-2])


def act(browser: Client, address_list: AddressList, action: str, **form: str) -> str:
    """Send the form of an action, and return the page that follows."""
    response = browser.post(url(address_list, f"{action}/"), form, follow=True)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_empty_page_says_what_lists_are_and_has_the_form(browser: Client) -> None:
    page = browser.get(PAGE).content.decode()
    assert "No lists yet." in page
    assert 'enctype="multipart/form-data"' in page


def test_list_is_uploaded_started_and_downloaded(browser: Client, account: Account) -> None:
    address_list = upload(browser)
    page = show(browser, address_list)
    assert "Ready to start" in page
    assert ">100% addresses<" in page
    assert "Up to <strong>2</strong> of your 100 credits" in page
    act(browser, address_list, "start")
    assert state_of(address_list) == ListState.QUEUED
    work()
    page = show(browser, address_list)
    assert "Completed on" in page
    assert "<dt>Charged</dt><dd>2</dd>" in page
    assert Wallet.objects.get(account=account).balance == 98
    form = {"format": "csv", "filter": "all"}
    response = browser.get(url(address_list, "download/"), form)
    lines = b"".join(response).decode().splitlines()
    assert lines[0].endswith(
        "id,name,email,ev_verdict,ev_reason,ev_score,ev_safe_to_send,ev_did_you_mean,ev_normalized"
    )
    assert lines[3].startswith("3,Jane,JANE@reserved.test,undeliverable,")


def test_sample_file_shows_what_lists_can_do_for_free(browser: Client, account: Account) -> None:
    page = browser.get(f"{PAGE}create/").content.decode()
    (path,) = re.findall(r'href="/static/(samples/[\w./-]+)"', page)
    sample = Path(cast(str, find(path))).read_bytes()
    address_list = upload(browser, sample, "sample-list.csv")
    counts = (address_list.rows, address_list.addresses, address_list.duplicates)
    assert counts == (10, 8, 1)
    page = show(browser, address_list)
    assert "We check the column “Reachable at”." in page
    assert ">90% addresses<" in page
    act(browser, address_list, "start")
    work()
    assert state_of(address_list) == ListState.COMPLETED
    verdicts = (address_list.deliverable, address_list.risky, address_list.undeliverable)
    assert verdicts == (1, 4, 3)
    assert Wallet.objects.get(account=account).balance == 100


def test_chosen_encoding_is_of_the_file_and_not_of_pasted_text(browser: Client) -> None:
    form = {"dedupe": "address", "encoding": "cp1251"}
    content = "email,имя\njane@reserved.test,Жанна\n"
    file = SimpleUploadedFile("c.csv", content.encode("cp1251"))
    for source in ({"file": file}, {"addresses": content}):
        browser.post(f"{PAGE}create/", form | source)
        work()
        address_list = AddressList.objects.latest("pk")
        assert "Жанна" in show(browser, address_list)


def test_error_in_an_option_opens_the_options(browser: Client) -> None:
    form = {"addresses": "a@b.test", "dedupe": "address"}
    assert 'class="lists-options">' in browser.get(PAGE).content.decode()
    page = browser.post(f"{PAGE}create/", form | {"name": "x" * 101}).content.decode()
    assert 'class="lists-options" open>' in page


def test_pasted_addresses_make_a_list(browser: Client) -> None:
    form = {"addresses": "jane@reserved.test\njoe@reserved.test", "dedupe": "off", "name": "Two"}
    browser.post(f"{PAGE}create/", form)
    work()
    address_list = AddressList.objects.get()
    assert (address_list.name, address_list.rows, address_list.dedupe) == ("Two", 2, "off")
    assert address_list.rechecks_unknown is False


def test_wrong_form_says_why_and_keeps_what_was_typed(browser: Client) -> None:
    for form, message in (
        ({}, "Choose a file or paste addresses."),
        ({"addresses": "a@b.test", "file": CSV}, "but not both."),
        ({"addresses": "a@b.test\n" * 10_001}, "You pasted 10,001 lines."),
        ({"file": b""}, "The file is empty."),
        ({"file": b"x" * ((8 << 20) + 1)}, "Without JavaScript, a file can have up to 8 MB."),
        ({"addresses": "a@b.test", "name": "x" * 101}, "at most 100 characters"),
        ({"addresses": "a@b.test", "dedupe": "twice"}, "Select a valid choice."),
    ):
        content = form.get("file")
        files = {"file": SimpleUploadedFile("c.csv", content)} if isinstance(content, bytes) else {}
        typed = {"name": "My customers", "dedupe": "address"} | form | files
        page = browser.post(f"{PAGE}create/", typed).content.decode()
        assert message in page
        assert "name" in form or 'value="My customers"' in page
    assert not AddressList.objects.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jane@reserved.test\n" * 150_000, "You pasted 150,000 lines."),
        ("x" * ((8 << 20) + 1), "You pasted more than 8 MB. Save the text as a file"),
    ],
)
def test_very_long_text_is_refused_and_kept(browser: Client, text: str, message: str) -> None:
    response = browser.post(f"{PAGE}create/", {"addresses": text, "dedupe": "address"})
    page = response.content.decode()
    assert message in page
    assert text in page


def test_column_that_the_file_lacks_is_refused(browser: Client) -> None:
    address_list = upload(browser)
    for column, advice in (("7", "Choose one of them."), ("x", "Choose one of the columns.")):
        assert advice in act(browser, address_list, "column", column=column)
        assert state_of(address_list) == ListState.READY


def test_column_with_few_addresses_needs_a_confirmation(browser: Client) -> None:
    address_list = upload(browser, b"jane@reserved.test\nJoe\nAnn\n", "names.txt")
    page = show(browser, address_list)
    assert "Start, although 2 cells aren&#x27;t addresses" in page
    assert "or confirm that you want to start" in act(browser, address_list, "start")
    assert state_of(address_list) == ListState.READY
    act(browser, address_list, "start", confirm="on")
    assert state_of(address_list) == ListState.QUEUED


def test_text_of_the_file_is_escaped_and_invisible_characters_are_shown(browser: Client) -> None:
    content = f"{HOSTILE},email\n{HOSTILE},jane@reserved.test\n".encode()
    page = show(browser, upload(browser, content, "<b>.csv"))
    assert "<script>alert" not in page
    assert "<b>" not in page
    assert not [character for character in INVISIBLE if character in page]


def test_sample_of_a_large_list_is_shown(browser: Client) -> None:
    # Invalid syntax needs no DNS.
    content = b"".join(b"..jane%d@shop.example\n" % number for number in range(2_000))
    address_list = upload(browser, content)
    assert "Take free sample" in show(browser, address_list)
    page = act(browser, address_list, "sample")
    assert 'data-label="Of the list, 95% certain" class="text-number">98% to 100%</td>' in page
    assert "Take free sample" not in page
