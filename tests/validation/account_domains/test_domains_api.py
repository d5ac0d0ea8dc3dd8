"""GET and PUT /v1/domains: both lists, ETags, errors, the audit log, and the account's data."""

import json
from typing import Any

import pytest

from accounts.models import Account, AuditEntry, User
from accounts.services import export_account
from tests.support.api_client import ApiClient, error_code, refusal
from validation.account_domains.services import MAX_ENTRIES, erase_domains
from validation.models import AccountDomains, LogEntry
from validation.request_log import writer

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

EMPTY: dict[str, list[str]] = {"allowed": [], "denied": []}
LISTS = {"allowed": ["partner.example"], "denied": ["spam.example", "bücher.example"]}
STORED = {"allowed": ["partner.example"], "denied": ["spam.example", "xn--bcher-kva.example"]}


def put(caller: ApiClient, document: Any = LISTS, **headers: str) -> Any:
    return caller.send_json("PUT", "/v1/domains", document, **headers)


def get(caller: ApiClient) -> Any:
    return caller.get("/v1/domains")


def test_new_account_has_two_empty_lists(caller: ApiClient) -> None:
    response = get(caller)
    assert (response.status_code, response.json()) == (200, EMPTY)
    assert response.headers["ETag"] == '"0"'


def test_put_replaces_both_lists_and_returns_what_is_stored(caller: ApiClient) -> None:
    first = put(caller)
    assert (first.status_code, first.json()) == (200, STORED)
    assert get(caller).json() == STORED
    second = {"allowed": [], "denied": ["other.example"]}
    assert put(caller, second).json() == second
    assert get(caller).json() == second


def test_etag_changes_with_the_lists(caller: ApiClient) -> None:
    etags = [put(caller).headers["ETag"], get(caller).headers["ETag"]]
    etags += [put(caller, STORED).headers["ETag"], put(caller, EMPTY).headers["ETag"]]
    etags += [put(caller).headers["ETag"], get(caller).headers["ETag"]]
    first, repeated, same, empty, again, last = etags
    assert first == repeated == same
    assert empty == '"0"'
    assert again == last
    assert len({first, empty, again}) == 3


def test_put_with_the_present_etag_or_an_asterisk_replaces(caller: ApiClient) -> None:
    etag = get(caller).headers["ETag"]
    etag = put(caller, If_Match=etag).headers["ETag"]
    assert put(caller, EMPTY, If_Match=f"W/{etag}").status_code == 412
    assert put(caller, EMPTY, If_Match=f'"other", {etag}').json() == EMPTY
    for lists in (LISTS, EMPTY):
        assert put(caller, lists, If_Match="*").status_code == 200


def test_put_with_another_etag_is_412_and_changes_nothing(caller: ApiClient) -> None:
    put(caller)
    for etag in ('"0"', '"stale"', 'W/"0"', "0", "", '"'):
        response = put(caller, EMPTY, If_Match=etag)
        assert refusal(response) == (412, "precondition_failed", "If-Match"), etag
        assert response.json()["error"]["type"] == "conflict_error"
        assert get(caller).json() == STORED


def test_most_entries_are_stored_and_one_more_is_refused(caller: ApiClient) -> None:
    domains = [f"shop{number}.example" for number in range(MAX_ENTRIES)]
    lists = {"allowed": domains[:1], "denied": domains[1:]}
    assert put(caller, lists).json() == lists
    response = put(caller, {**lists, "allowed": ["one.example", "two.example"]})
    assert refusal(response) == (400, "invalid_field", None)
    error = response.json()["error"]
    assert error["details"] == {"max": MAX_ENTRIES}
    assert "10,001" in error["message"]
    assert get(caller).json() == lists


def test_malformed_body_is_refused(caller: ApiClient) -> None:
    for body, code, param in (
        (b"", "invalid_json", None),
        (b'{"allowed": [], "allowed": []}', "invalid_json", None),
        (b"[]", "invalid_field", None),
        (b"{}", "missing_field", "allowed"),
        (b'{"allowed": 1}', "missing_field", "denied"),
        (b'{"denied": []}', "missing_field", "allowed"),
        (b'{"allowed": null, "denied": []}', "invalid_field", "allowed"),
        (b'{"allowed": [], "denied": "a.example"}', "invalid_field", "denied"),
        (b'{"allowed": [], "denied": ["a.example", 1]}', "invalid_field", "denied[1]"),
        (b'{"allowed": ["com"], "denied": []}', "invalid_field", "allowed[0]"),
        (b'{"allowed": ["com"], "denied": [], "x": 1}', "invalid_field", "allowed[0]"),
        (b'{"allowed": [], "denied": [], "allow": []}', "unknown_field", "allow"),
    ):
        assert refusal(caller.call("PUT", "/v1/domains", body)) == (400, code, param), body
    assert not AccountDomains.objects.exists()
    assert refusal(caller.get("/v1/domains?list=denied")) == (400, "unknown_field", "list")


def test_error_names_the_entry_and_lists_further_ones(caller: ApiClient) -> None:
    response = put(caller, {"allowed": [], "denied": ["a.example", "co.uk", "192.0.2.1"]})
    error = response.json()["error"]
    suffix = "denied[1]: “co.uk” is a public suffix with many owners. Enter a domain below it."
    assert error["message"] == suffix
    assert error["details"]["errors"] == [
        {"param": "denied[1]", "message": suffix},
        {
            "param": "denied[2]",
            "message": "denied[2]: “192.0.2.1” is an IP address. Enter a domain.",
        },
    ]


def test_body_of_up_to_a_megabyte_is_read(caller: ApiClient) -> None:
    body = json.dumps(LISTS).encode()
    assert caller.call("PUT", "/v1/domains", body.ljust(1 << 20)).status_code == 200
    response = caller.call("PUT", "/v1/domains", body.ljust((1 << 20) + 1))
    assert error_code(response) == "request_too_large"
    assert "1 MB" in response.json()["error"]["message"]


def test_reading_and_replacing_are_free_and_count_as_requests(caller: ApiClient) -> None:
    responses = [get(caller), put(caller)]
    assert [one.headers["X-RateLimit-Remaining"] for one in responses] == ["59", "58"]
    assert caller.get("/v1/credits").json()["balance"] == 100
    writer.buffer.flush()
    assert LogEntry.objects.filter(path="/v1/domains", status=200, cost=0).count() == 2


def test_another_account_has_its_own_lists(caller: ApiClient, other_caller: ApiClient) -> None:
    put(caller)
    assert get(other_caller).json() == EMPTY
    put(other_caller, {"allowed": [], "denied": ["partner.example"]})
    assert get(caller).json() == STORED


def test_change_is_in_the_audit_log_with_the_key(caller: ApiClient, account: Account) -> None:
    put(caller, {"allowed": ["a.example"], "denied": [f"{n}.example" for n in range(1, 6)]})
    put(caller, {"allowed": [], "denied": ["a.example"]}, If_Match="*")
    entries = AuditEntry.objects.filter(account=account, action="domains.changed").order_by("pk")
    assert {entry.actor_name for entry in entries} == {"API key The Shop's server"}
    assert {entry.ip for entry in entries} == {"198.51.100.7"}
    assert [entry.target for entry in entries] == [
        "1 allowed, 5 denied; now allowed: a.example; "
        "now denied: 1.example, 2.example, 3.example and 2 more",
        "0 allowed, 1 denied; now denied: a.example; no longer allowed: a.example; "
        "no longer denied: 1.example, 2.example, 3.example and 2 more",
    ]


def test_refused_and_repeated_changes_are_not_in_the_audit_log(caller: ApiClient) -> None:
    assert put(caller, EMPTY).headers["ETag"] == '"0"'
    put(caller)
    put(caller)
    put(caller, EMPTY, If_Match='"stale"')
    put(caller, {"allowed": ["com"], "denied": []})
    assert AuditEntry.objects.filter(action="domains.changed").count() == 1


def test_lists_are_exported_and_erased_with_the_account(
    caller: ApiClient, account: Account, owner: User
) -> None:
    put(caller)
    assert export_account(account=account, actor=owner)["domains"] == STORED
    erase_domains(account=account)
    assert not AccountDomains.objects.exists()
    assert Account.objects.get(pk=account.pk).domains_version is None
