"""Each layer counts its own events."""

import threading
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest
from django.db import OperationalError
from django.http import HttpRequest
from django.test import Client, override_settings
from django.urls import path, re_path
from pytest_django import Settings

from accounts.engine import get_engine
from accounts.models import Account
from apikeys.rest.middleware import authentication_refusals
from apikeys.rest.view import ApiView
from apikeys.throttling.breaker import Breaker, outages
from config.urls import urlpatterns
from credits.models import Wallet
from credits.wallet import charges
from runtime.database.raw_sql import times_unavailable
from runtime.jobs import daily
from runtime.logging import access_log
from runtime.mail import outbox
from runtime.metrics.registry import MetricsSwitch, all_metrics, before_each_flush
from tests.support.api_client import ApiClient
from validation.services import validations

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(MetricsSwitch, "is_on", True)
    reset()
    yield
    reset()


def reset() -> None:
    get_engine()
    for collect in before_each_flush:
        collect()
    for metric in all_metrics:
        metric.take()  # type: ignore[attr-defined]
    access_log.take_records()


def test_validations_are_counted_by_result(
    caller: ApiClient, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        caller.validate("jane@shop.example")
        caller.validate("risky@sandbox.test", Idempotency_Key="one")
        caller.validate("risky@sandbox.test", Idempotency_Key="one")
        caller.validate("no address", Idempotency_Key="two")
    assert validations.take() == {
        ("undeliverable", "reserved_domain", "api"): 1,
        ("undeliverable", "invalid_syntax", "api"): 1,
        ("risky", "accept_all", "sandbox"): 1,
    }
    assert charges.credits_charged.take() == {(): 2}
    assert sum(charges.charge_batches.take().values()) >= 2
    (buckets,) = charges.charge_seconds.take().values()
    assert buckets.sum > 0


def test_refused_charge_is_counted(caller: ApiClient, account: Account) -> None:
    Wallet.objects.filter(account=account).update(balance=0)
    assert caller.validate().status_code == 402
    caller.validate("insufficient_credits@sandbox.test")
    assert charges.charges_refused.take() == {(): 1}
    assert charges.credits_charged.take() == {}


def test_unauthenticated_requests_are_counted_by_reason(caller: ApiClient) -> None:
    for secret in (None, "svc_live_mistyped", "svc_live_again"):
        ApiClient(secret).get("/v1/me")
    caller.validate("invalid_api_key@sandbox.test")
    assert authentication_refusals.take() == {("missing_api_key",): 1, ("invalid_api_key",): 2}


class UnavailableApiView(ApiView):
    def get(self, request: Any) -> NoReturn:
        raise OperationalError("server closed the connection")


def unavailable_page(request: HttpRequest) -> NoReturn:
    raise OperationalError("server closed the connection")


class UnavailableUrls:
    urlpatterns = [
        path("away/", unavailable_page),
        re_path("^v1/away$", UnavailableApiView.as_view()),
        *urlpatterns,
    ]
    from config.urls import handler400, handler403, handler404, handler500


def test_database_outage_is_counted_for_api_and_pages(caller: ApiClient) -> None:
    with override_settings(ROOT_URLCONF=UnavailableUrls, LOGIN_URL="/accounts/login/"):
        assert caller.get("/v1/away").status_code == 503
        with override_settings(MIDDLEWARE=["runtime.http.middleware.IdentifyRequestMiddleware"]):
            client = Client(raise_request_exception=False)
            assert client.get("/away/").status_code >= 500
    assert times_unavailable.take() == {("api",): 1, ("page",): 1}


def test_rate_limit_store_outage_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apikeys.throttling.breaker.PROBE_SECONDS", 0)
    is_healthy, others = threading.Event(), set(threading.enumerate())
    breaker = Breaker(is_healthy.is_set)
    for _ in range(3):
        breaker.trip(ConnectionError())
    assert outages.take() == {(): 1}
    is_healthy.set()
    # The probe logs the recovery. Wait for it, so that it is not in the next test's log.
    for prober in set(threading.enumerate()) - others:
        prober.join(10)
    assert not breaker.is_open


def test_emails_are_counted_by_outcome(settings: Settings) -> None:
    outbox.queue_mail(to="jane@shop.example", subject="One", text="", html="")
    outbox.send_due()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    outbox.queue_mail(to="jane@shop.example", subject="Two", text="", html="")
    outbox.send_due()
    assert outbox.attempts.take() == {("sent",): 1, ("failed",): 1}


def failing_job() -> NoReturn:
    raise ValueError("This job fails.")


def test_daily_jobs_record_their_runs_and_failures(settings: Settings) -> None:
    good = "runtime.mail.retention.delete_old_mails"
    settings.ON_EVERY_DAY = [f"{__name__}.failing_job", good]
    with pytest.raises(daily.DailyJobsFailed):
        daily.run_daily()
    assert daily.failures.take() == {("failing_job",): 1}
    assert (
        set(daily.ran_at.take())
        == set(daily.durations.take())
        == {
            ("failing_job",),
            ("delete_old_mails",),
        }
    )
