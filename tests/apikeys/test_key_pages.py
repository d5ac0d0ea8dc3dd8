"""Settings → API Keys: creating, changing, rotating and revoking keys."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Account, AuditEntry, User
from accounts.roles import Role
from apikeys import services
from apikeys.models import MAX_ACTIVE_KEYS, ApiKey
from runtime.models import Mail
from tests.conftest import make_member, signed_in
from tests.support.api_client import ApiClient
from tests.validation.reports.usage_data import add_usage

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

SECRET = re.compile(r"svc_live_[0-9A-Za-z]{38}")
TOKEN = "f" * 32


def create(browser: Client, **fields: str) -> tuple[str, dict[str, str]]:
    """Submit the form. Return the response's page and the submitted data."""
    sent = {"name": "Sign-up form", "access": "full", "form_token": TOKEN, **fields}
    response = browser.post("/apikeys/create/", sent)
    assert response.status_code == 200
    assert "no-store" in response.headers["Cache-Control"]
    return response.content.decode(), sent


def test_form_creates_one_key_and_shows_its_secret_once_with_two_lines_that_use_it(
    browser: Client,
) -> None:
    for token in ("", "short", "x" * 33, "<script>"):
        page = browser.post("/apikeys/create/", {"name": "A name", "form_token": token})
        assert "Open this page again" in page.content.decode()
    assert not ApiKey.objects.exists()
    shown, sent = create(browser)
    secret = SECRET.findall(shown)[0]
    assert secret not in repr(dict(browser.session))
    assert f"SVC_API_KEY</span>={secret}" in shown
    assert "$SVC_API_KEY" in shown
    assert "you won't see it again" in shown
    for advice in ("client-side code", "public repositories", "frontend bundles", "hard-code"):
        assert advice in shown
    assert ApiClient(secret).get("/v1/me").json()["key"]["name"] == "Sign-up form"
    again = browser.post("/apikeys/create/", sent).content.decode()
    assert "shown only once" in again
    assert secret not in again
    assert ApiKey.objects.count() == 1


def test_form_sets_the_settings_of_the_key_which_the_list_shows_without_its_secret(
    browser: Client,
) -> None:
    page, _ = create(
        browser,
        expires_at="90",
        allowed_networks="203.0.113.7\n203.0.113.9/24\n203.0.113.0/24\n::ffff:203.0.113.0/120",
        requests_per_minute="10",
        credits_per_month="5000",
    )
    key = ApiKey.objects.get()
    assert key.allowed_networks == ["203.0.113.7/32", "203.0.113.0/24"]
    assert (key.requests_per_minute, key.credits_per_month) == (10, 5_000)
    target = AuditEntry.objects.get(action="key.created").target
    assert target.endswith(", 5,000 credits per month")
    assert key.expires_at is not None
    assert (key.expires_at - key.created_at).days in {89, 90}
    ApiClient(SECRET.findall(page)[0], ip="203.0.113.7").get("/v1/me")
    listed = browser.get("/apikeys/").content.decode()
    for shown in ("Sign-up form", key.display, "Olive Owner", "203.0.113.7", "2 networks"):
        assert shown in listed
    assert not SECRET.search(listed)
    assert key.digest not in listed


def test_list_shows_the_requests_of_7_days_without_lists(
    browser: Client, account: Account, key: ApiKey
) -> None:
    now = timezone.now()
    add_usage(account, now, 1_200, key=key)
    add_usage(account, now, 5, "risky", key=key)
    add_usage(account, now, 70, key=key, for_list=True)
    add_usage(account, now - timedelta(days=8), 900, key=key)
    services.create_key(account=account, name="Unused", actor=account.memberships.get().user)
    listed = " ".join(browser.get("/apikeys/").content.decode().split())
    usage = f'href="/validation/usage/?range=7d&amp;key={key.public_id}"'
    assert f"{usage}> 1,205 requests in the last 7 days </a>" in listed
    assert "> 0 requests in the last 7 days </a>" in listed


def test_invalid_input_is_explained_and_preserved(browser: Client) -> None:
    whole = "Enter a whole number from 1 to 1,000,000,000."
    for name, value, sentence in (
        ("name", "", "This field is required"),
        ("name", "x" * 51, "at most 50 characters"),
        ("name", "a\u202eb", "be displayed"),
        ("allowed_networks", "somewhere", "“somewhere” isn&#x27;t an IP address or network"),
        ("allowed_networks", "fe80::1%eth0", "an IP address or network"),
        ("allowed_networks", "203.0.113.0/33", "an IP address or network"),
        ("allowed_networks", " ".join(f"203.0.113.{n}" for n in range(51)), "at most 50"),
        ("requests_per_minute", "61", "Enter at most 60"),
        ("requests_per_minute", "0", "Enter at least 1, or leave this empty."),
        ("requests_per_minute", "-1", "Enter at least 1"),
        ("requests_per_minute", "1.5", "Enter a whole number"),
        *(("credits_per_month", wrong, whole) for wrong in ("0", "-5", "1000000001", "many")),
        ("expires_at", "7", "Select a valid choice"),
    ):
        page, sent = create(browser, **{name: value})
        assert sentence in page, (name, value)
        assert 'value="Sign-up form"' in page or name == "name"
    assert not ApiKey.objects.exists()
    # The same form works once it's corrected.
    assert SECRET.search(create(browser, **{**sent, "expires_at": ""})[0])


def test_revoking_asks_for_confirmation_and_takes_effect_immediately(
    browser: Client, key: ApiKey, caller: ApiClient
) -> None:
    path = f"/apikeys/{key.public_id}/revoke/"
    assert b"You can't undo this" in browser.get(path).content
    assert caller.get("/v1/me").status_code == 200
    response = browser.post(path, follow=True)
    assert b"Requests with this key are now refused." in response.content
    assert b"Inactive keys" in response.content
    assert caller.get("/v1/me").status_code == 401
    assert b"was already revoked" in browser.post(path, follow=True).content


def test_rotation_shows_the_new_key_once_and_keeps_the_old_one_for_the_grace_period(
    browser: Client, key: ApiKey, secret: str
) -> None:
    path = f"/apikeys/{key.public_id}/rotate/"
    assert b'name="form_token"' in browser.get(path).content
    sent = {"form_token": TOKEN, "grace": "1"}
    page = browser.post(path, sent).content.decode()
    new = SECRET.findall(page)[0]
    assert new != secret
    assert ApiClient(new).get("/v1/me").status_code == 200
    assert ApiClient(secret).get("/v1/me").status_code == 200
    again = browser.post(path, sent).content.decode()
    assert "shown only once" in again
    assert new not in again
    assert ApiKey.objects.count() == 2
    listed = browser.get("/apikeys/").content.decode()
    assert "Replaced by" in listed
    assert "in 1\xa0hour" in listed


def test_changed_settings_apply_to_the_next_request(
    browser: Client, key: ApiKey, caller: ApiClient
) -> None:
    path = f"/apikeys/{key.public_id}/change/"
    sent = {"name": "Renamed", "access": "full", "requests_per_minute": "7"}
    sent["allowed_networks"] = "203.0.113.0/24"
    assert "Saved Renamed." in browser.post(path, sent, follow=True).content.decode()
    assert caller.get("/v1/me").status_code == 403
    there = ApiClient(caller.secret, ip="203.0.113.9").get("/v1/me")
    assert there.json()["rate_limit"]["limit"] == 7
    page = browser.get(path).content.decode()
    assert 'value="Renamed"' in page
    assert "203.0.113.0/24</textarea>" in page
    assert AuditEntry.objects.latest("pk").action == "key.changed"
    assert "only from 203.0.113.0/24, for 7 requests per minute" in Mail.objects.latest("pk").text


def test_invalid_settings_and_changes_of_a_revoked_key_are_refused(
    browser: Client, key: ApiKey, owner: User
) -> None:
    change, rotate = (f"/apikeys/{key.public_id}/{name}/" for name in ("change", "rotate"))
    for sent in ({"name": ""}, {"name": "x", "allowed_networks": "nowhere"}):
        assert "errorlist" in browser.post(change, sent).content.decode()
    services.revoke_key(key=key, actor=owner)
    for path, sent in (
        (change, {"name": "Too late", "access": "full"}),
        (rotate, {"form_token": TOKEN, "grace": "1"}),
    ):
        assert "This key is no longer active" in browser.post(path, sent).content.decode()
    assert ApiKey.objects.get().name == "The Shop's server"


def test_21st_key_is_refused(browser: Client, account: Account, owner: User) -> None:
    for number in range(MAX_ACTIVE_KEYS):
        services.create_key(account=account, name=f"Server {number}", actor=owner)
    assert "Create Key</a>" not in browser.get("/apikeys/").content.decode()
    refused, _ = create(browser)
    assert "An account can have at most 20 active keys" in refused


@pytest.mark.parametrize("role", Role)
def test_navigation_links_to_keys_webhooks_and_audit_log_for_roles_that_manage_them(
    account: Account, role: Role
) -> None:
    page = signed_in(make_member(account, role)).get("/validation/").content
    can_manage = role in {Role.OWNER, Role.ADMIN, Role.DEVELOPER}
    assert (b"API Keys" in page) is (b"/accounts/webhooks/" in page) is can_manage
    assert (b'href="/accounts/audit/"' in page) is (role in {Role.OWNER, Role.ADMIN})
