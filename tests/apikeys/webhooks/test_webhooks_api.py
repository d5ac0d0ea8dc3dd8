"""The operations of /v1/webhooks."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.events.types import types_by_name
from accounts.models import (
    Account,
    AuditEntry,
    Delivery,
    DeliveryAttempt,
    Event,
    User,
    WebhookEndpoint,
)
from accounts.models.webhooks import DeliveryState
from accounts.webhooks.keys import public_key
from accounts.webhooks.services import MAX_ATTEMPTS, MAX_TESTS, MAX_WEBHOOKS
from apikeys.services import create_key
from runtime.encryption import decrypt
from tests.accounts.webhooks.deliveries import insert_delivery
from tests.servers.dns import FakeDns
from tests.support.api_client import ApiClient, error_code, read_all
from tests.support.log_records import LogCapture

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

URL = "https://hooks.shop.com/a-secret-path"
FIELDS = [
    *("id", "url", "types", "description", "state", "disabled_reason", "public_key", "created_at")
]


@pytest.fixture(autouse=True)
def dns(fake_dns: FakeDns) -> FakeDns:
    fake_dns.add_records("hooks.shop.com", A="8.8.4.4")
    return fake_dns


def call(caller: ApiClient, method: str, path: str = "", body: Any = None) -> Any:
    content = b"" if body is None else json.dumps(body).encode()
    return caller.call(method, f"/v1/webhooks{path}", content)


def create(caller: ApiClient, **body: Any) -> Any:
    response = call(caller, "POST", body={"url": URL, **body})
    assert response.status_code == 201, response.content
    return response.json()


def refusal(response: Any) -> tuple[int, str, str | None, str]:
    error = response.json()["error"]
    return response.status_code, error["code"], error["param"], error["message"]


def make_delivery(public_id: str, number: int = 0, **fields: Any) -> Delivery:
    endpoint = WebhookEndpoint.objects.get(public_id=public_id)
    return insert_delivery(endpoint, "list.completed" if number % 2 else "list.ready", **fields)


FAILED: dict[str, Any] = {"state": DeliveryState.FAILED, "next_attempt_at": None, "tries": 10}


def test_webhook_is_created_read_changed_and_deleted(caller: ApiClient) -> None:
    made = create(caller, types=["list.ready", "credits.low", "list.ready"], description="Shop")
    stored = WebhookEndpoint.objects.get()
    assert [*made] == [*FIELDS, "secret"]
    assert made.pop("secret") == decrypt(stored.secret)
    assert made["public_key"] == public_key(stored)
    assert made["types"] == ["credits.low", "list.ready"]
    assert (made["url"], made["description"]) == (URL, "Shop")
    assert (made["state"], made["disabled_reason"]) == ("active", None)
    path = f"/{made['id']}"
    assert call(caller, "GET", path).json() == made
    assert call(caller, "GET").json() == {"data": [made]}
    changes = {"types": None, "description": "", "state": "disabled"}
    expected = made | changes | {"disabled_reason": "manual"}
    assert call(caller, "PATCH", path, changes).json() == expected
    assert call(caller, "PATCH", path, {}).json() == expected
    enabled = call(caller, "PATCH", path, {"state": "active"}).json()
    assert (enabled["state"], enabled["disabled_reason"]) == ("active", None)
    assert call(caller, "DELETE", path).json() == {"id": made["id"], "deleted": True}
    assert refusal(call(caller, "GET", path))[:2] == (404, "not_found")
    assert create(caller)["types"] is None


def test_secret_is_shown_once_and_rotated(caller: ApiClient, records: LogCapture) -> None:
    made = create(caller)
    path = f"/{made['id']}"
    rotated = call(caller, "POST", f"{path}/rotate", {"keep_old_for": 3600}).json()
    assert rotated.keys() == made.keys()
    assert rotated["secret"] != made["secret"]
    assert rotated["public_key"] != made["public_key"]
    stored = WebhookEndpoint.objects.get()
    assert decrypt(stored.old_secret) == made["secret"]
    call(caller, "POST", f"{path}/rotate", {"keep_old_for": 0})
    assert WebhookEndpoint.objects.get().old_secret == ""
    read = call(caller, "GET", path).content + call(caller, "GET").content
    changed = call(caller, "PATCH", path, {"description": "New"}).content
    audit = str([*AuditEntry.objects.values()])
    for text in ((read + changed).decode(), audit, records.text):
        assert "whsec_" not in text
        assert all(one["secret"][6:] not in text for one in (made, rotated))
    assert "a-secret-path" not in audit + records.text
    entries = AuditEntry.objects.filter(action__startswith="webhook.")
    assert {*entries.values_list("actor_name", flat=True)} == {"API key The Shop's server"}


def test_url_that_may_not_be_called_is_refused_with_the_reason(
    caller: ApiClient, dns: FakeDns
) -> None:
    dns.add_records("inside.shop.com", A="10.0.0.1")
    path = f"/{create(caller)['id']}"
    for url, reason in {
        "http://hooks.shop.com/": "url must start with https://.",
        "https://127.0.0.1/": "url must name a host, not an IP address.",
        "https://inside.shop.com/": "url must not lead to an address that isn't public.",
        "https://missing.shop.com/": "the DNS has none",
        f"{URL}/{'a' * 2000}": "2,000 characters",
        "": "url must start with https://.",
    }.items():
        for method, place in (("POST", ""), ("PATCH", path)):
            *error, message = refusal(call(caller, method, place, {"url": url}))
            assert error == [400, "invalid_field", "url"]
            assert reason in message
    assert WebhookEndpoint.objects.get().url == URL


def test_wrong_bodies_are_refused(caller: ApiClient) -> None:
    path = f"/{create(caller)['id']}"
    known = ", ".join(types_by_name())
    for place, body, code, param, words in (
        ("", {}, "missing_field", "url", "required"),
        ("", {"url": 1}, "invalid_field", "url", "must be a string"),
        ("", {"url": URL, "types": ["list.ready", "x"]}, "invalid_field", "types[1]", known),
        ("", {"url": URL, "types": []}, "invalid_field", "types", "array of 1 to 100"),
        ("", {"url": URL, "types": "list.ready"}, "invalid_field", "types", "array"),
        ("", {"url": URL, "description": "a\0"}, "invalid_field", "description", "U+0000"),
        ("", {"url": URL, "description": "a" * 201}, "invalid_field", "description", "200"),
        ("", {"url": URL, "state": "active"}, "unknown_field", "state", "url, types, description"),
        (f"{path}/rotate", {}, "missing_field", "keep_old_for", "required"),
        (f"{path}/rotate", {"keep_old_for": 60}, "invalid_field", "keep_old_for", "0, 3600"),
        (f"{path}/rotate", {"keep_old_for": False}, "invalid_field", "keep_old_for", "0, 3600"),
        (f"{path}/replay", {}, "missing_field", "failed_since", "required"),
        *(
            (f"{path}/replay", {"failed_since": time}, "invalid_field", "failed_since", "such as")
            for time in ("now", "2026-13-01T00:00:00Z", "2026-11-20", 1, "0001-01-01T00:00+14:00")
        ),
        ("/%00", {}, "not_found", None, ""),
        (f"{path}/test", {"a": 1}, "unknown_field", "a", "no fields"),
    ):
        error = refusal(call(caller, "POST", place, body))
        assert error[1:3] == (code, param), (place, body)
        assert words in error[3]
    state = refusal(call(caller, "PATCH", path, {"state": "gone"}))
    assert state[:3] == (400, "invalid_field", "state")
    assert refusal(call(caller, "POST"))[1] == "invalid_json"
    assert WebhookEndpoint.objects.count() == 1


def test_eleventh_webhook_is_refused(caller: ApiClient) -> None:
    for _ in range(MAX_WEBHOOKS):
        create(caller)
    refused = call(caller, "POST", body={"url": URL})
    assert refusal(refused)[:2] == (409, "too_many_webhooks")
    assert refused.json()["error"]["details"] == {"limit": 10}


def test_test_event_is_accepted_for_enabled_webhooks(caller: ApiClient) -> None:
    path = f"/{create(caller, types=['list.ready'])['id']}"
    sent = call(caller, "POST", f"{path}/test")
    event = Event.objects.get(type="webhook.test")
    assert (sent.status_code, sent.json()) == (202, {"event": event.public_id})
    assert call(caller, "POST", f"{path}/test", {}).status_code == 202
    call(caller, "PATCH", path, {"state": "disabled"})
    delivery = make_delivery(path[1:], **FAILED)
    for action, body in (
        ("test", None),
        ("replay", {"failed_since": "2026-11-20T00:00:00Z"}),
        (f"deliveries/{delivery.public_id}/replay", None),
    ):
        refused = call(caller, "POST", f"{path}/{action}", body)
        assert refusal(refused)[:2] == (409, "invalid_state")
        assert refused.json()["error"]["details"] == {"state": "disabled"}


def test_deliveries_are_listed_newest_first_with_their_attempts(caller: ApiClient) -> None:
    path = f"/{create(caller)['id']}"
    made = [make_delivery(path[1:], n, **(FAILED if n > 2 else {})) for n in range(5)]
    make_delivery(create(caller)["id"])
    for status, error in ((None, "timeout"), (500, "status")):
        DeliveryAttempt.objects.create(
            delivery=made[4], at=timezone.now(), duration_ms=7, status=status, error=error
        )
    ids = [delivery.public_id for delivery in made]

    def read(**query: str) -> list[str]:
        return read_all(caller, f"/v1/webhooks{path}/deliveries", **query)

    assert read() == ids[::-1]
    assert read(state="failed") == [ids[4], ids[3]]
    assert read(type="list.completed", state="waiting") == [ids[1]]
    assert read(type="list.completed,list.ready", starting_after=ids[2]) == [ids[1], ids[0]]
    newest, *_, oldest = call(caller, "GET", f"{path}/deliveries").json()["data"]
    assert oldest == {
        "id": ids[0],
        "event": made[0].event.public_id,
        "type": "list.ready",
        "state": "waiting",
        "next_attempt_at": oldest["next_attempt_at"],
        "attempts": [],
    }
    assert oldest["next_attempt_at"].endswith("Z")
    assert newest["next_attempt_at"] is None
    attempts = [(one["status"], one["error"], one["response"]) for one in newest["attempts"]]
    assert attempts == [(None, "timeout", ""), (500, "status", "")]
    for query in ("state=gone", "type=x", "type=", "limit=0", "starting_after=dlv_%00"):
        refused = refusal(call(caller, "GET", f"{path}/deliveries?{query}"))
        assert refused[:3] == (400, "invalid_field", query.partition("=")[0])


def test_one_delivery_or_all_failed_ones_are_replayed(caller: ApiClient) -> None:
    path = f"/{create(caller)['id']}"
    made = [make_delivery(path[1:], **FAILED) for _ in range(3)]
    Event.objects.filter(pk=made[0].event_id).update(created_at=timezone.now() - timedelta(2))
    replayed = call(caller, "POST", f"{path}/deliveries/{made[2].public_id}/replay")
    assert replayed.status_code == 202
    assert (replayed.json()["id"], replayed.json()["state"]) == (made[2].public_id, "waiting")
    since = {"failed_since": f"{timezone.now() - timedelta(1):%Y-%m-%dT%H:%M:%SZ}"}
    response = call(caller, "POST", f"{path}/replay", since)
    assert (response.status_code, response.json()) == (202, {"replayed": 1})
    assert {*Delivery.objects.due()} == {*made[1:]}


def test_too_many_tests_and_replays_are_refused(caller: ApiClient) -> None:
    path = f"/{create(caller)['id']}"
    delivery, often_enough = (make_delivery(path[1:], **FAILED) for _ in range(2))
    attempts = [DeliveryAttempt(delivery=delivery, at=timezone.now(), duration_ms=1)]
    DeliveryAttempt.objects.bulk_create(
        DeliveryAttempt(delivery=often_enough, at=timezone.now(), duration_ms=1)
        for _ in range(MAX_ATTEMPTS - 1)
    )
    DeliveryAttempt.objects.bulk_create(attempts * MAX_ATTEMPTS)
    refused = call(caller, "POST", f"{path}/deliveries/{delivery.public_id}/replay")
    assert refusal(refused)[:2] == (409, "invalid_state")
    assert refused.json()["error"]["details"] == {"attempts": 50}
    since = {"failed_since": f"{timezone.now() - timedelta(1):%Y-%m-%dT%H:%M:%SZ}"}
    assert call(caller, "POST", f"{path}/replay", since).json() == {"replayed": 1}
    assert [*Delivery.objects.due()] == [often_enough]
    with time_machine.travel(timezone.now(), tick=False):
        for _ in range(MAX_TESTS):
            assert call(caller, "POST", f"{path}/test").status_code == 202
        refused = call(caller, "POST", f"{path}/test")
    *error, message = refusal(refused)
    assert error == [429, "rate_limit_exceeded", None]
    assert message.startswith("You can send a test event 10 times per minute. Try again at ")
    details = refused.json()["error"]["details"]
    assert (details["limit"], details["window"]) == (10, 60)
    assert refused.headers["Retry-After"] == str(details["retry_after"])
    assert Event.objects.filter(type="webhook.test").count() == MAX_TESTS


def test_other_accounts_webhooks_do_not_exist(caller: ApiClient, stranger: User) -> None:
    account = Account.objects.get(memberships__user=stranger)
    other = ApiClient(create_key(account=account, name="Server", actor=stranger)[1])
    theirs, own = f"/{create(other)['id']}", f"/{create(caller)['id']}"
    delivery = make_delivery(theirs[1:], **FAILED).public_id
    bodies: dict[str, Any] = {
        "rotate": {"keep_old_for": 0},
        "replay": {"failed_since": "2026-11-20T00:00:00Z"},
    }
    for webhook in (theirs, "/whk_00000000000000000000", "/none", "/whk_%00"):
        calls = [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("GET", "/deliveries")]
        calls += [("POST", f"/{action}") for action in ("rotate", "test", "replay")]
        calls += [("POST", f"/deliveries/{delivery}/replay"), ("PUT", "")]
        for method, action in calls:
            response = call(caller, method, webhook + action, bodies.get(action[1:], {}))
            assert (response.status_code, error_code(response)) == (404, "not_found")
    # With the own webhook's id, too.
    for method in ("POST", "GET"):
        assert call(caller, method, f"{own}/deliveries/{delivery}/replay").status_code == 404
    cursor = call(caller, "GET", f"{own}/deliveries?starting_after={delivery}")
    assert refusal(cursor)[:3] == (400, "invalid_field", "starting_after")
    assert [one["id"] for one in call(caller, "GET").json()["data"]] == [own[1:]]
    assert error_code(call(caller, "PUT", own)) == "method_not_allowed"
    endpoint = WebhookEndpoint.objects.get(account=account)
    assert (endpoint.is_enabled, endpoint.old_secret) == (True, "")
    assert {*Delivery.objects.values_list("state", flat=True)} == {"failed"}
