"""Authentication: which keys are accepted, and the queries that it takes."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings
from pytest_django.fixtures import DjangoAssertNumQueries

from accounts import services as accounts
from accounts.models import Account, User
from apikeys import crypto, services
from apikeys.authentication.bearer import find_key
from apikeys.errors import ApiError
from apikeys.models import ApiKey, KeyLookup
from tests.conftest import make_user
from tests.support.api_client import ApiClient, error_code

pytestmark = pytest.mark.django_db

MISTYPED = "svc_live_" + "a" * 38


@pytest.mark.anywhere
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_scheme_is_case_insensitive(secret: str, scheme: str) -> None:
    assert ApiClient().get("/v1/me", Authorization=f"{scheme} {secret}").status_code == 200


@pytest.mark.anywhere
@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer ", "Basic {}", "Token {}", "{}"]
)
def test_request_without_bearer_token_has_no_key(secret: str, authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization.format(secret)}
    response = ApiClient().get("/v1/me", **headers)
    assert (response.status_code, error_code(response)) == (401, "missing_api_key")
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="api"'


@pytest.mark.anywhere
@pytest.mark.parametrize(
    "token", [MISTYPED, "{}x", "x{}", "{} {}", "{},{}", "{}\t", "svc_live_", "é", '"{}"', "a b"]
)
def test_malformed_key_is_invalid(secret: str, token: str) -> None:
    response = ApiClient().get("/v1/me", Authorization=f"Bearer {token.format(secret, secret)}")
    assert (response.status_code, error_code(response)) == (401, "invalid_api_key")
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="api", error="invalid_token"'
    assert "svc_live_" in response.json()["error"]["message"]


def test_key_outside_the_authorization_header_is_ignored(secret: str) -> None:
    caller = ApiClient()
    caller.client.cookies["api_key"] = secret
    responses = [
        caller.get(f"/v1/me?api_key={secret}&key={secret}&access_token={secret}"),
        caller.get("/v1/me", X_API_Key=secret),
        caller.get("/v1/me", Proxy_Authorization=f"Bearer {secret}"),
        caller.send(f'{{"email": "a@b.co", "api_key": "{secret}"}}'.encode()),
        caller.get(f"/v1/{secret}"),
    ]
    assert {error_code(response) for response in responses} == {"missing_api_key"}
    assert not any(secret in response.content.decode() for response in responses)


def test_expired_or_revoked_key_is_refused(key: ApiKey, caller: ApiClient) -> None:
    assert caller.get("/v1/me").status_code == 200
    ApiKey.objects.update(expires_at=timezone.now())
    assert error_code(caller.get("/v1/me")) == "api_key_expired"
    ApiKey.objects.update(expires_at=None)
    services.revoke_key(key=key, actor=None)
    response = caller.get("/v1/me")
    assert (response.status_code, error_code(response)) == (401, "api_key_revoked")
    assert 'error="invalid_token"' in response.headers["WWW-Authenticate"]


def test_dashboard_session_does_not_authenticate_api_requests(owner: User) -> None:
    caller = ApiClient()
    caller.client.force_login(owner)
    assert error_code(caller.get("/v1/me")) == "missing_api_key"
    assert "Set-Cookie" not in caller.get("/v1/me").headers


def test_mistyped_key_is_refused_without_a_query(
    django_assert_num_queries: DjangoAssertNumQueries, secret: str
) -> None:
    with django_assert_num_queries(0):
        assert ApiClient(MISTYPED).get("/v1/me").status_code == 401
        assert ApiClient(secret[:-1]).get("/v1/me").status_code == 401


def test_well_formed_key_takes_one_query(
    django_assert_num_queries: DjangoAssertNumQueries, key: ApiKey, caller: ApiClient
) -> None:
    caller.get("/v1/me")
    # Two more for the plan and for the request log, which the product writes in batches.
    with django_assert_num_queries(1 + 2):
        assert caller.get("/v1/me").status_code == 200
    with django_assert_num_queries(1):
        assert ApiClient(crypto.generate()).get("/v1/me").status_code == 401
    key.revoke()
    with django_assert_num_queries(1):
        assert caller.get("/v1/me").status_code == 401


def test_key_of_the_previous_pepper_works_and_moves_to_the_new_one(
    django_assert_num_queries: DjangoAssertNumQueries, settings: Settings, secret: str, key: ApiKey
) -> None:
    settings.API_KEY_PEPPER_PREVIOUS, settings.API_KEY_PEPPER = settings.API_KEY_PEPPER, "new"
    with django_assert_num_queries(1):
        assert find_key(secret, KeyLookup()) == key
    assert ApiClient(secret).get("/v1/me").status_code == 200
    settings.API_KEY_PEPPER_PREVIOUS = ""
    assert ApiClient(secret).get("/v1/me").status_code == 200
    settings.API_KEY_PEPPER = "another"
    with pytest.raises(ApiError, match="invalid_api_key"):
        find_key(secret, KeyLookup())


def test_pepper_can_be_replaced_one_machine_at_a_time(settings: Settings, secret: str) -> None:
    """Add the new pepper as the previous one everywhere, then swap both, then drop the old one."""
    old, new = settings.API_KEY_PEPPER, "new"
    machines = {"first": (old, new), "second": (old, new)}

    def call(machine: str) -> int:
        settings.API_KEY_PEPPER, settings.API_KEY_PEPPER_PREVIOUS = machines[machine]
        ApiKey.objects.update(last_used_at=None)
        return int(ApiClient(secret).get("/v1/me").status_code)

    assert [call("first"), call("second")] == [200, 200]
    machines["first"] = (new, old)
    assert [call("first"), call("second"), call("first")] == [200, 200, 200]
    machines["second"] = (new, old)
    assert [call("second"), call("first")] == [200, 200]
    machines["first"] = machines["second"] = (new, "")
    assert [call("first"), call("second")] == [200, 200]


def test_last_use_is_recorded_once_per_minute_and_only_of_accepted_requests(
    key: ApiKey, secret: str
) -> None:
    ApiKey.objects.update(allowed_networks=["203.0.113.0/24"])
    ApiClient(secret, ip="198.51.100.1").get("/v1/me")
    key.refresh_from_db()
    assert key.last_used_at is None
    ApiKey.objects.update(allowed_networks=[])
    ApiClient(secret, ip="198.51.100.1").get("/v1/me")
    key.refresh_from_db()
    first = key.last_used_at
    assert first is not None
    ApiClient(secret, ip="198.51.100.2").get("/v1/me")
    key.refresh_from_db()
    assert (key.last_used_at, key.last_used_ip) == (first, "198.51.100.1")
    ApiKey.objects.update(last_used_at=first - timedelta(minutes=1))
    ApiClient(secret, ip="198.51.100.2").get("/v1/me")
    key.refresh_from_db()
    assert key.last_used_ip == "198.51.100.2"


def test_keys_of_a_suspended_account_get_403_until_the_suspension_is_lifted(
    account: Account, owner: User, caller: ApiClient
) -> None:
    accounts.suspend_account(account=account, actor=owner)
    response = caller.get("/v1/me")
    assert (response.status_code, error_code(response)) == (403, "account_suspended")
    assert response.headers["X-RateLimit-Remaining"] == "59"
    accounts.lift_suspension(account=account, actor=owner)
    assert caller.get("/v1/me").status_code == 200


def test_keys_of_a_closed_account_stay_revoked_after_it_is_reopened(
    account: Account, owner: User, caller: ApiClient
) -> None:
    staff = make_user("staff@service.example", is_staff=True)
    accounts.close_account(account=account, actor=owner)
    assert error_code(caller.get("/v1/me")) == "api_key_revoked"
    account.refresh_from_db()
    accounts.reopen_account(account=account, actor=staff)
    assert error_code(caller.get("/v1/me")) == "api_key_revoked"


@pytest.mark.anywhere
def test_key_used_from_a_network_it_does_not_allow_is_limited_by_address(
    account: Account, owner: User
) -> None:
    networks = ["203.0.113.0/24", "2001:db8::/32"]
    _, secret = services.create_key(
        account=account, name="Office", actor=owner, allowed_networks=networks
    )
    assert ApiClient(secret, ip="203.0.113.9").get("/v1/me").status_code == 200
    assert ApiClient(secret, ip="2001:db8::1").get("/v1/me").status_code == 200
    elsewhere = ApiClient(secret, ip="198.51.100.7")
    response = elsewhere.get("/v1/me")
    assert (response.status_code, error_code(response)) == (403, "ip_not_allowed")
    assert response.headers["RateLimit"].startswith('"address"')
    for _ in range(59):
        elsewhere.get("/v1/me")
    assert elsewhere.get("/v1/me").status_code == 429


def test_plain_http_is_refused_in_production_and_not_redirected(
    settings: Settings, secret: str
) -> None:
    settings.PRODUCTION = settings.SECURE_SSL_REDIRECT = True
    response = ApiClient(secret).get("/v1/me")
    assert (response.status_code, error_code(response)) == (403, "https_required")
    assert ApiClient().get("/v1/me").status_code == 401
    assert ApiClient(secret).client.get("/v1/me", secure=True).status_code == 401
    assert ApiClient(secret).client.get("/accounts/login/").status_code == 301
