"""Rate limits: which bucket a request consumes from, and the headers."""

import time

import pytest
import time_machine
from django.http import HttpRequest
from pytest_django import Settings

from accounts.models import Account, User
from apikeys import services
from apikeys.throttling import limits
from apikeys.throttling.limits import Bucket
from tests.support.api_client import ApiClient, error_code

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def set_limit(account: Account, requests_per_minute: int) -> None:
    Account.objects.filter(pk=account.pk).update(requests_per_minute=requests_per_minute)


def statuses(caller: ApiClient, times: int) -> list[int]:
    return [caller.get("/v1/me").status_code for _ in range(times)]


def test_every_response_has_the_remaining_requests_and_a_429_has_retry_after(
    account: Account, caller: ApiClient
) -> None:
    set_limit(account, 3)
    responses = [caller.get("/v1/me") for _ in range(5)]
    assert [response.headers["X-RateLimit-Remaining"] for response in responses] == list("21000")
    assert {response.headers["X-RateLimit-Limit"] for response in responses} == {"3"}
    now = int(time.time())
    for response in responses:
        assert now < int(response.headers["X-RateLimit-Reset"]) <= now + 61
    assert ["Retry-After" in response.headers for response in responses] == [False] * 3 + [True] * 2
    refused = responses[-1]
    details = refused.json()["error"]["details"]
    assert error_code(refused) == "rate_limit_exceeded"
    assert (details["limit"], details["window"]) == (3, 60)
    assert int(refused.headers["Retry-After"]) == details["retry_after"] >= 1
    assert int(refused.headers["X-RateLimit-Reset"]) == details["reset"]


def test_ietf_headers_have_the_same_numbers(caller: ApiClient) -> None:
    headers = caller.get("/v1/me").headers
    left = int(headers["X-RateLimit-Reset"]) - int(time.time())
    assert headers["RateLimit-Policy"] == '"account";q=60;w=60'
    assert headers["RateLimit"] in {f'"account";r=59;t={left + late}' for late in (0, 1)}


def test_keys_of_an_account_share_its_limit(
    account: Account, owner: User, caller: ApiClient
) -> None:
    set_limit(account, 4)
    _, other = services.create_key(account=account, name="Other", actor=owner)
    assert statuses(caller, 2) + statuses(ApiClient(other), 3) == [200] * 4 + [429]


def test_changed_limit_starts_a_new_count_and_staffs_overrides_the_plans(
    account: Account, caller: ApiClient
) -> None:
    set_limit(account, 2)
    assert statuses(caller, 3) == [200, 200, 429]
    set_limit(account, 3)
    assert statuses(caller, 4) == [200, 200, 200, 429]
    Account.objects.update(requests_per_minute_override=1)
    assert statuses(caller, 2) == [200, 429]


def test_request_over_the_keys_limit_does_not_count_against_the_account(
    account: Account, owner: User, caller: ApiClient
) -> None:
    set_limit(account, 5)
    small, large = (
        services.create_key(account=account, name="Key", actor=owner, requests_per_minute=limit)[1]
        for limit in (2, 50)
    )
    assert statuses(ApiClient(small), 5) == [200, 200, 429, 429, 429]
    # A limit above the account's is ignored.
    assert statuses(caller, 1) + statuses(ApiClient(large), 3) == [200] * 3 + [429]


def test_headers_show_the_bucket_with_fewer_remaining_requests(
    account: Account, owner: User, caller: ApiClient
) -> None:
    set_limit(account, 5)
    _, small = services.create_key(
        account=account, name="Small", actor=owner, requests_per_minute=3
    )
    assert ApiClient(small).get("/v1/me").headers["RateLimit"].startswith('"key";r=2')
    statuses(caller, 3)
    last = ApiClient(small).get("/v1/me")
    assert last.headers["RateLimit"].startswith('"account";r=0')
    assert last.headers["X-RateLimit-Limit"] == "5"


def test_windows_of_key_and_account_start_together(account: Account, owner: User) -> None:
    """Callers who have waited for one bucket needn't wait for the other."""
    key, secret = services.create_key(
        account=account, name="Small", actor=owner, requests_per_minute=2
    )
    ApiClient(secret).get("/v1/me")
    request = ApiClient().client.get("/").wsgi_request
    buckets = [limits.key_bucket(key), limits.account_bucket(key.account)]
    resets = {limits.peek(request, bucket).reset for bucket in buckets if bucket}
    assert max(resets) - min(resets) <= 1


@pytest.mark.parametrize("unknown", [None, "svc_live_" + "a" * 38])
def test_requests_without_a_valid_key_are_limited_by_address(
    secret: str, unknown: str | None
) -> None:
    stranger = ApiClient(unknown, ip="203.0.113.5")
    responses = [stranger.get("/v1/me") for _ in range(62)]
    assert [response.status_code for response in responses] == [401] * 60 + [429] * 2
    assert "WWW-Authenticate" not in responses[-1].headers
    assert statuses(ApiClient(unknown, ip="203.0.113.6"), 1) == [401]
    # With a valid key, the same address consumes from the account's bucket.
    assert statuses(ApiClient(secret, ip="203.0.113.5"), 1) == [200]


def test_ipv6_callers_are_limited_by_network(settings: Settings) -> None:
    settings.ANONYMOUS_REQUESTS_PER_MINUTE = 2
    callers = [ApiClient(ip=ip) for ip in ("2001:db8::1", "2001:db8::2:3", "2001:db8::4")]
    assert [caller.get("/v1/me").status_code for caller in callers] == [401, 401, 429]
    assert ApiClient(ip="2001:db8:0:1::1").get("/v1/me").status_code == 401


def test_forwarded_address_is_used_only_behind_trusted_proxies(settings: Settings) -> None:
    settings.ANONYMOUS_REQUESTS_PER_MINUTE = 1
    caller = ApiClient(ip="203.0.113.5")
    assert caller.get("/v1/me", X_Forwarded_For="192.0.2.1").status_code == 401
    assert caller.get("/v1/me", X_Forwarded_For="192.0.2.2").status_code == 429
    settings.TRUSTED_PROXIES = 1
    assert caller.get("/v1/me", X_Forwarded_For="192.0.2.9, 192.0.2.3").status_code == 401
    assert caller.get("/v1/me", X_Forwarded_For="192.0.2.8, 192.0.2.3").status_code == 429


def test_refused_requests_count(account: Account, caller: ApiClient) -> None:
    set_limit(account, 3)
    assert caller.call("PUT", "/v1/me").status_code == 405
    assert caller.get("/v1/nothing").status_code == 404
    assert caller.send(b"no json").status_code == 400
    assert caller.get("/v1/me").status_code == 429


def test_exhausted_bucket_is_refused_without_asking_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bucket = Bucket("account", "acc_exhausted", "acc_exhausted", 1)
    with time_machine.travel(1_800_000_000, tick=False) as clock:
        refused = [limits.consume(HttpRequest(), bucket) for _ in range(2)][1]
        with monkeypatch.context() as patch:
            patch.setattr(limits, "_count_in_store", None)
            assert limits.consume(HttpRequest(), bucket) == refused
            assert limits.peek(HttpRequest(), bucket) == refused
            clock.shift(refused.seconds_left - 1)
            last = limits.consume(HttpRequest(), bucket)
        assert (last.refused, last.reset, last.seconds_left) == (True, refused.reset, 1)
        clock.shift(1)
        assert not limits.consume(HttpRequest(), bucket).refused


def test_peek_consumes_nothing() -> None:
    request = ApiClient().client.get("/").wsgi_request
    bucket = Bucket("address", "203.0.113.5", "203.0.113.5", 2)
    remaining = [limits.peek(request, bucket).remaining for _ in range(3)]
    assert remaining == [2, 2, 2]
    assert limits.consume(request, bucket).remaining == 1
    assert limits.peek(request, bucket).remaining == 1


def test_window_includes_its_last_second() -> None:
    """The reset time is when django-ratelimit starts the next window."""
    request = ApiClient().client.get("/").wsgi_request
    bucket = Bucket("address", "203.0.113.5", "203.0.113.5", 1)
    first = limits.consume(request, bucket)
    for moment, refused in ((first.reset - 0.001, True), (float(first.reset), False)):
        with time_machine.travel(moment, tick=False):
            assert limits.consume(request, bucket).refused is refused


def test_local_windows_match_the_stores() -> None:
    request = ApiClient().client.get("/").wsgi_request
    for number in range(70):
        bucket = Bucket("account", f"acc_{number}", f"acc_{number}", 10)
        assert limits.LocalCounter().count(bucket, 1).reset == limits.consume(request, bucket).reset


def test_local_counter_enforces_the_workers_share(settings: Settings) -> None:
    settings.MACHINE_WORKERS = 4
    counter = limits.LocalCounter()
    bucket = Bucket("account", "acc_1", "acc_1", 10)
    assert [counter.count(bucket, 1).refused for _ in range(4)] == [False, False, True, True]
    end = counter.count(bucket, 0).reset
    with time_machine.travel(float(end), tick=False):
        assert counter.count(bucket, 1).refused is False
    single = Bucket("account", "acc_2", "acc_2", 1)
    assert [counter.count(single, 1).refused for _ in range(2)] == [False, True]


def test_local_counter_recovers_when_the_clock_is_set_back() -> None:
    counter = limits.LocalCounter()
    bucket = Bucket("account", "acc_1", "acc_1", 2)
    with time_machine.travel(1_800_003_600, tick=False):
        assert [counter.count(bucket, 1).refused for _ in range(3)][-1] is True
    with time_machine.travel(1_800_000_000, tick=False):
        assert counter.count(bucket, 1).refused is False


@pytest.mark.parametrize("hours", [-1, 1])
def test_clock_change_refuses_requests_for_one_window_at_most(hours: int) -> None:
    bucket, request = Bucket("account", "acc_1", "acc_1", 2), HttpRequest()
    now = 1_800_003_600
    with time_machine.travel(now, tick=False):
        assert [limits.consume(request, bucket).refused for _ in range(3)][-1] is True
    with time_machine.travel(now + hours * 3600, tick=False):
        usages = [limits.consume(request, bucket) for _ in range(3)]
    assert [usage.refused for usage in usages] == [False, False, True]
    assert usages[-1].seconds_left <= limits.WINDOW_SECONDS
    with time_machine.travel(now + hours * 3600 + limits.WINDOW_SECONDS, tick=False):
        assert limits.consume(request, bucket).refused is False


def test_window_that_ends_during_the_count_has_a_second_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """django-ratelimit reads the clock twice. Its result is this if a second ends in between."""
    ended = {"count": 9, "limit": 2, "should_limit": True, "time_left": -1}
    monkeypatch.setattr(limits, "get_usage", lambda *_, **__: ended)
    request = ApiClient().client.get("/").wsgi_request
    assert limits.consume(request, Bucket("account", "acc_1", "acc_1", 2)).seconds_left == 1
