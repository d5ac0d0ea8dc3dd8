"""The search line becomes filters in the URL, or the page says what it didn't understand."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client

from accounts.models import Account, User
from apikeys.models import ApiKey
from apikeys.services import create_key
from tests.support.api_client import ApiClient
from tests.validation.reports.usage_data import read_page
from validation.addresses import address_hash

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE = "/validation/requests/"


def search(browser: Client, text: str, **filters: str) -> Any:
    return browser.post(f"{PAGE}find/", {"text": text, **filters})


def found(browser: Client, text: str, **filters: str) -> dict[str, str]:
    """Return the filters to which a search leads."""
    response = search(browser, text, **filters)
    assert response.status_code == 302, read_page(response)
    return dict(parse_qsl(urlsplit(response.url).query))


def test_words_become_filters(browser: Client) -> None:
    for text, filters in {
        "": {},
        "verdict:risky": {"verdict": "risky"},
        "VERDICT:Risky status:402": {"verdict": "risky", "status": "402"},
        "risky null_mx 402": {"verdict": "risky", "reason": "null_mx", "status": "402"},
        "insufficient_credits": {"reason": "insufficient_credits"},
        "refused": {"status": "refused"},
        "shop.com": {"domain": "shop.com"},
        "@Shop.com": {"domain": "@shop.com"},
        "domain:müller.example": {"domain": "müller.example"},
        "jane@shop.com": {"address": address_hash("jane@shop.com")},
        "address:jane@shop.com": {"address": address_hash("jane@shop.com")},
        '"no address"': {"address": address_hash("no address")},
        '"john doe"@shop.com': {"address": address_hash('"john doe"@shop.com')},
        "o'hara@shop.com": {"address": address_hash("o'hara@shop.com")},
        "req_unknown": {"request": "req_unknown"},
        "request:My-own-id": {"request": "My-own-id"},
        "playground": {"key": "playground"},
        "key:Playground": {"key": "playground"},
    }.items():
        assert found(browser, text) == filters, text


def test_search_adds_to_the_filters_of_the_page(browser: Client) -> None:
    filters = {"verdict": "risky", "range": "24h"}
    assert found(browser, "shop.com verdict:unknown", **filters) == {
        "verdict": "unknown",
        "range": "24h",
        "domain": "shop.com",
    }
    # Times are applied without a script.
    times = {"since": "2026-11-01T10:00", "until": "2026-11-01T11:30"}
    assert found(browser, "", range="24h", **times) == {"range": "24h", **times}


def test_key_is_found_by_name_and_id(browser: Client, key: ApiKey) -> None:
    ApiKey.objects.update(name="Server")
    for text in ("key:server", 'key:"server"', f"key:{key.public_id}"):
        assert found(browser, text) == {"key": key.public_id}


def test_name_of_two_keys_is_not_understood(browser: Client, account: Account, owner: User) -> None:
    for _ in range(2):
        create_key(account=account, name="My server", actor=owner)
    assert not_understood(browser, 'key:"My server"') == ['key:"My server"']


def not_understood(browser: Client, text: str) -> list[str]:
    page = read_page(search(browser, text))
    parts = page.split("We didn't understand <code>")[1:]
    return [part.partition("</code>")[0] for part in parts]


def test_page_says_what_it_did_not_understand(browser: Client) -> None:
    for text, words in {
        "verdict:bad shop.com": ["verdict:bad"],
        "risky unknown verdict:bad": ["unknown", "verdict:bad"],
        "foo verdict:risky bar:1": ["foo", "bar:1"],
        "status:999 reason:nonsense": ["reason:nonsense", "status:999"],
        **{word: [word] for word in ("verdict:", "range:1h", "val_0", "domain:-.com", '"', "\0")},
        "x" * 500: ["x" * 500],
    }.items():
        assert not_understood(browser, text) == words, text


def test_search_that_is_not_understood_stays_and_changes_no_filter(browser: Client) -> None:
    page = read_page(search(browser, "risky <foo>", status="402"))
    assert 'value="risky <foo>"' in page
    assert "Remove the filter status: 402" in page
    assert "Remove the filter verdict" not in page


def test_request_id_that_looks_like_another_is_found(browser: Client, caller: ApiClient) -> None:
    for request_id in ("val_of-ours-1234", "deadbeef" * 4, "no-address"):
        caller.validate("risky@sandbox.test", X_Request_Id=request_id)
        assert found(browser, request_id) == {"request": request_id}


def test_unknown_result_is_reported(browser: Client) -> None:
    for result_id in ("val_" + "0" * 26, "VAL_" + "0" * 26):
        page = browser.post(f"{PAGE}find/", {"text": result_id}, follow=True)
        assert b"No stored request has the result ID val_0" in page.content
