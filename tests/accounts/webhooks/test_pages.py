"""Settings → Webhooks: endpoints, their keys, deliveries and replays."""

import html
import re
import shlex
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Account, AuditEntry, Delivery, Event, User, WebhookEndpoint
from accounts.models.webhooks import DeliveryState
from accounts.roles import Role
from accounts.webhooks.keys import public_key
from tests.accounts.webhooks.deliveries import URL, make_delivery
from tests.accounts.webhooks.factory import make_endpoint
from tests.conftest import make_member, signed_in
from tests.validation.reports.usage_data import add_usage

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")
DISABLED = "We disabled the webhook"
TOKEN = "t" * 32
FORM = {"url": URL, "description": "Production", "form_token": TOKEN}


@pytest.fixture
def endpoint(account: Account, owner: User) -> WebhookEndpoint:
    return make_endpoint(account, URL, created_by=owner)


def path_of(endpoint: WebhookEndpoint, rest: str = "") -> str:
    return f"/accounts/webhooks/{endpoint.public_id}/{rest}"


def follow(browser: Client, path: str, sent: dict[str, Any] | None = None) -> str:
    return browser.post(path, sent or {}, follow=True).content.decode()


def test_secret_is_shown_once_uncached_and_stored_encrypted(browser: Client) -> None:
    response = browser.post("/accounts/webhooks/create/", FORM)
    page, endpoint = response.content.decode(), WebhookEndpoint.objects.get()
    (secret,) = SECRET.findall(page)
    assert "no-store" in response.headers["Cache-Control"]
    assert public_key(endpoint) in page
    assert "you won&#x27;t see it again" in page or "you won't see it again" in page
    assert secret not in repr(dict(browser.session)) + repr(vars(endpoint))
    # A resubmitted form, and the other pages.
    again = follow(browser, "/accounts/webhooks/create/", FORM)
    others = ("/accounts/webhooks/", path_of(endpoint), path_of(endpoint, "rotate/"))
    pages = [browser.get(path).content.decode() for path in others]
    assert "shown only once" in again.replace("&#x27;", "'")
    assert not any(SECRET.search(text) for text in [again, *pages])
    assert WebhookEndpoint.objects.count() == 1
    assert secret not in "".join(AuditEntry.objects.values_list("target", flat=True))


def test_endpoint_gets_all_events_or_the_chosen_ones(browser: Client) -> None:
    page = browser.get("/accounts/webhooks/create/").content.decode()
    assert "key.created" in page
    assert "webhook.test" not in page
    browser.post("/accounts/webhooks/create/", FORM)
    endpoint = WebhookEndpoint.objects.get()
    assert (endpoint.types, endpoint.description) == (None, "Production")
    chosen = {"url": URL, "types": ["key.created", "key.revoked"]}
    saved = follow(browser, path_of(endpoint, "change/"), chosen)
    assert "Saved." in saved
    endpoint.refresh_from_db()
    assert endpoint.types == ["key.created", "key.revoked"]
    page = browser.get(path_of(endpoint, "change/")).content.decode()
    assert 'value="key.created" checked' in " ".join(page.split())
    assert 'value="key.rotated" checked' not in " ".join(page.split())
    assert "2 events" in browser.get("/accounts/webhooks/").content.decode()


def test_invalid_input_is_explained_and_preserved(browser: Client) -> None:
    for name, value, sentence in (
        ("url", "", "This field is required"),
        ("url", "http://shop.example/", "The URL must start with https://."),
        ("url", f"{URL}/{'x' * 2000}", "at most 2000 characters"),
        ("description", "a\u202eb", "be displayed"),
        ("types", "key.exploded", "Select a valid choice"),
        ("form_token", "x", "Open this page again"),
    ):
        page = browser.post("/accounts/webhooks/create/", {**FORM, name: value}).content.decode()
        assert sentence in page
        assert 'value="Production"' in page or name == "description"
    assert not WebhookEndpoint.objects.exists()


def test_eleventh_endpoint_is_refused(browser: Client, account: Account) -> None:
    for number in range(10):
        make_endpoint(account, f"{URL}/{number}")
    page = browser.get("/accounts/webhooks/").content.decode()
    assert "Create webhook</a>" not in page
    assert b"at most 10" in browser.post("/accounts/webhooks/create/", FORM).content


def test_rotation_shows_a_new_secret_once_and_does_not_repeat(
    browser: Client, endpoint: WebhookEndpoint
) -> None:
    old_key = public_key(endpoint)
    sent = {"public_key": old_key, "keep_old_for": "24"}
    page = browser.post(path_of(endpoint, "rotate/"), sent).content.decode()
    assert len(SECRET.findall(page)) == 1
    endpoint.refresh_from_db()
    assert public_key(endpoint) in page
    again = follow(browser, path_of(endpoint, "rotate/"), sent)
    assert "shown only once" in again
    before = public_key(endpoint)
    endpoint.refresh_from_db()
    assert public_key(endpoint) == before != old_key
    assert endpoint.old_until and endpoint.old_until > timezone.now() + timedelta(hours=23)
    assert "Old keys" in browser.get(path_of(endpoint)).content.decode()
    rotate = path_of(endpoint, "rotate/")
    assert "If you rotate now" in browser.get(rotate).content.decode()
    WebhookEndpoint.objects.update(old_until=timezone.now())
    assert "If you rotate now" not in browser.get(rotate).content.decode()


def test_endpoint_is_disabled_enabled_and_deleted(
    browser: Client, endpoint: WebhookEndpoint
) -> None:
    page = follow(browser, path_of(endpoint, "disable/"))
    assert "Enable webhook" in page
    assert "A member or a key disabled it" in page
    assert "Send test event" not in page
    refused = follow(browser, path_of(endpoint, "test/"))
    assert "disabled" in refused
    assert not Event.objects.filter(type="webhook.test").exists()
    assert "Send test event" in follow(browser, path_of(endpoint, "enable/"))
    assert b"You can't undo this" in browser.get(path_of(endpoint, "delete/")).content
    assert f"Deleted {URL}." in follow(browser, path_of(endpoint, "delete/"))
    assert not WebhookEndpoint.objects.exists()


def test_test_event_leads_to_its_delivery(browser: Client, endpoint: WebhookEndpoint) -> None:
    page = follow(browser, path_of(endpoint, "test/"))
    event = Event.objects.get(type="webhook.test")
    progress = path_of(endpoint, f"events/{event.public_id}/?attempts=0")
    assert event.public_id in page
    assert f'data-poll="{progress}"' in page
    assert b"data-poll-again" in browser.get(progress).content
    delivery = endpoint.deliveries.create(event=event)
    delivery.delivery_attempts.create(at=timezone.now(), status=204, duration_ms=5)
    assert b"data-reload" in browser.get(progress).content
    response = browser.get(path_of(endpoint, f"events/{event.public_id}/"))
    assert response.headers["Location"] == path_of(endpoint, f"deliveries/{delivery.public_id}/")


def test_deliveries_are_filtered_and_paged(browser: Client, endpoint: WebhookEndpoint) -> None:
    for _ in range(51):
        make_delivery(endpoint)
    make_delivery(endpoint, DeliveryState.FAILED, "key.revoked")
    make_delivery(endpoint, DeliveryState.WAITING)
    for query, count in (
        ("", 50),
        ("page=2", 3),
        ("state=failed", 1),
        ("type=key.revoked", 1),
        ("state=delivered&type=key.revoked", 0),
        ("state=odd&type=%00&page=%00", 50),
    ):
        page = browser.get(f"{path_of(endpoint)}?{query}").content.decode()
        assert page.count("two-line-link") == count, query
    empty = browser.get(f"{path_of(endpoint)}?state=delivered&type=key.revoked").content.decode()
    assert "No matching deliveries." in empty
    for path in (path_of(endpoint), "/accounts/webhooks/"):
        page = browser.get(path).content.decode()
        assert "98%" in page, path
        assert "51 of 52" in page, path


def test_delivery_shows_attempts_and_the_request_as_sent(
    browser: Client, endpoint: WebhookEndpoint
) -> None:
    failed = make_delivery(
        endpoint, DeliveryState.FAILED, status=500, error="status", response="<b>broken</b>"
    )
    page = browser.get(path_of(endpoint, f"deliveries/{failed.public_id}/")).content.decode()
    for shown in ("500", "87 ms", "&lt;b&gt;broken", "v1,abc= v1a,def=", "webhook-timestamp"):
        assert shown in page, shown
    assert failed.event.public_id in page
    command = re.search(r'<code id="curl">(.*?)</code>', page, re.DOTALL)
    assert command
    words = shlex.split(html.unescape(re.sub("<[^>]+>", "", command[1])))
    assert words[1] == URL
    assert words[words.index("--data-raw") + 1] == failed.event.body


def test_replays_send_one_delivery_or_all_failed_since_a_time(
    browser: Client, endpoint: WebhookEndpoint
) -> None:
    old, _ = (make_delivery(endpoint, DeliveryState.FAILED) for _ in range(2))
    Event.objects.filter(pk=old.event.pk).update(created_at=timezone.now() - timedelta(days=2))
    delivered = make_delivery(endpoint)
    page = follow(browser, path_of(endpoint, f"deliveries/{delivered.public_id}/replay/"))
    assert "Waiting" in page
    yesterday = timezone.now() - timedelta(days=1)
    since = {"since": f"{yesterday:%Y-%m-%dT%H:%M}"}
    assert "sent again: 1<" in follow(browser, path_of(endpoint, "replay/"), since)
    states = Delivery.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["failed", "waiting", "waiting"]
    for time in ("0001-01-01T00:00", "9999-12-31T23:59"):
        page = follow(browser, path_of(endpoint, "replay/"), {"since": time})
        assert ("sent again" if time < "1" else "No delivery has failed") in page
    assert "Enter a valid date" in follow(browser, path_of(endpoint, "replay/"), {"since": "now"})
    assert Delivery.objects.filter(state="waiting").count() == 3


def test_automatically_disabled_endpoint_has_a_banner(
    browser: Client, endpoint: WebhookEndpoint
) -> None:
    WebhookEndpoint.objects.update(disabled_at=timezone.now(), disabled_reason="failing")
    add_usage(endpoint.account, timezone.now(), 5)
    pages = ("/accounts/webhooks/", "/validation/")
    assert all(DISABLED in browser.get(page).content.decode() for page in pages)
    viewer = signed_in(make_member(endpoint.account, Role.VIEWER))
    assert DISABLED not in viewer.get("/validation/").content.decode()
    WebhookEndpoint.objects.update(disabled_reason="manual")
    assert not any(DISABLED in browser.get(page).content.decode() for page in pages)
