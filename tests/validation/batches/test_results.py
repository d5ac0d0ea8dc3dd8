"""Results of a batch, compared with those of single calls."""

from collections.abc import Mapping
from typing import Any

import pytest

from accounts.models import Account
from tests.servers.dns import FakeDns
from tests.support.api_client import ApiClient
from validation.models import LogEntry
from validation.request_log import writer

pytestmark = pytest.mark.django_db

EMAILS = [
    *("jane@shop.com", "JOE@Shop.com", "jane.doe+news@shop.com", "info@shop.com"),
    *("no-reply@shop.com", '"j\\\\oe \\"x"@shop.com', "jürgen@shop.com", "100%b@shop.com"),
    *("j\u00fcrgen@bu\u0308cher.de", "jane@xn--bcher-kva.de", "jane@ordinary-shop.com"),
    *("no address", "a@b\0.com", "\0", "\u202ejane@shop.com", "%b@%d", "x" * 320, '{"a": 1}@'),
    *("jane@gmial.com", "info+x@gmial.com", "jane@mailinator.com"),
    *("jane@localhost", "deliverable@sandbox.test", "risky+x@sandbox.test"),
    *("dns_timeout@sandbox.test", "internal_error@sandbox.test", "possible_typo@sandbox.test"),
]
# Not the same in two calls.
VARYING = {"id", "created_at", "duration_ms", "dns_cached", "credits", "duplicate_of"}
VARYING_COLUMNS = {"id", "at", "request_id", "path", "duration_ms", "result_id", "batch_id"}


@pytest.fixture(autouse=True)
def domains(patient_dns: FakeDns, account: Account) -> None:
    for domain in ("shop.com", "xn--bcher-kva.de", "gmial.com", "mailinator.com"):
        patient_dns.add_mail_domain(domain)
    account.requests_per_minute = 500
    account.save(update_fields=["requests_per_minute"])


def without(varying: set[str], document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in varying}


def test_results_are_those_of_single_calls(caller: ApiClient) -> None:
    emails = [email for email in EMAILS if email != "internal_error@sandbox.test"]
    single = [caller.validate(email).json() for email in emails]
    batch = caller.validate_batch(emails).json()["results"]
    assert [list(result)[:-1] for result in batch] == [list(result) for result in single]
    assert [without(VARYING, result) for result in batch] == [
        without(VARYING, result) for result in single
    ]


def test_request_log_has_the_rows_of_single_calls(caller: ApiClient) -> None:
    emails = [email for email in EMAILS if not email.endswith("sandbox.test")]
    for email in emails:
        caller.validate(email)
    caller.validate_batch(emails).json()["results"]
    rows = LogEntry.objects.order_by("address_hash").values()
    single, batch = (
        [without(VARYING_COLUMNS, row) for row in rows.filter(path=path)]
        for path in (writer.PATH, writer.BATCH_PATH)
    )
    assert len(single) == len(emails)
    assert single == batch


def test_domains_of_one_kind_have_their_own_names_and_mail_hosts(
    caller: ApiClient, patient_dns: FakeDns
) -> None:
    patient_dns.add_mail_domain("first-shop.com")
    patient_dns.add_mail_domain("second-shop.com", host="mail.hosting.com")
    emails = [f"{name}@{shop}-shop.com" for name in "abc" for shop in ("first", "second")]
    results = caller.validate_batch(emails).json()["results"]
    assert [result["ascii_domain"] for result in results] == [
        "first-shop.com",
        "second-shop.com",
    ] * 3
    assert [result["mx"]["records"][0]["host"] for result in results] == [
        *("mx.first-shop.com", "mail.hosting.com")
    ] * 3
    logged = LogEntry.objects.order_by("at").values_list("domain", flat=True)
    assert list(logged) == ["first-shop.com", "second-shop.com"] * 3


def test_results_of_alternating_kinds_keep_their_order(caller: ApiClient) -> None:
    emails = [f"{name}{number}@shop.com" for number in range(20) for name in ("jane", "jane+x")]
    emails = ["info@shop.com", "not an address", *emails, "no-reply@shop.com"]
    results = caller.validate_batch(emails).json()["results"]
    assert [result["email"] for result in results] == emails
    logged = LogEntry.objects.order_by("at").values_list("result_id", "reason", "cost", "batch_id")
    batch_id = LogEntry.objects.earliest("at").batch_id
    assert batch_id
    assert list(logged) == [
        (result["id"], result["reason"], result["credits"]["charged"], batch_id)
        for result in results
    ]
