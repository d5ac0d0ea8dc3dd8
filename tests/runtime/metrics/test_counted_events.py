"""Each layer counts its own events."""

import threading
from typing import Any, NoReturn

import pytest
from django.db import OperationalError
from django.http import HttpRequest
from django.test import Client, override_settings
from django.urls import path, re_path
from pytest_django import Settings

from accounts.models import Account
from apikeys.rest.view import ApiView
from apikeys.throttling.breaker import Breaker
from config.urls import urlpatterns
from credits.models import Wallet
from runtime.jobs import daily
from runtime.mail import outbox
from tests.support.api_client import ApiClient
from tests.support.metrics import Increases

pytestmark = pytest.mark.django_db


def test_validations_are_counted_by_result(
    caller: ApiClient, django_capture_on_commit_callbacks: Any
) -> None:
    increases = Increases()
    with django_capture_on_commit_callbacks(execute=True):
        caller.validate("jane@shop.example")
        caller.validate("risky@sandbox.test", Idempotency_Key="one")
        caller.validate("risky@sandbox.test", Idempotency_Key="one")
        caller.validate("no address", Idempotency_Key="two")
    assert increases.of("validations_total") == {
        ("undeliverable", "reserved_domain", "api"): 1,
        ("undeliverable", "invalid_syntax", "api"): 1,
        ("risky", "accept_all", "sandbox"): 1,
    }
    assert increases.of("credits_charged_total") == {(): 2}
    batches = increases.of("charge_batches_total")
    assert batches[()] >= 2
    assert increases.of("charge_duration_seconds_count") == batches
    assert increases.of("charge_duration_seconds_sum")[()] > 0


def test_refused_charge_is_counted(caller: ApiClient, account: Account) -> None:
    increases = Increases()
    Wallet.objects.filter(account=account).update(balance=0)
    assert caller.validate().status_code == 402
    caller.validate("insufficient_credits@sandbox.test")
    assert increases.of("charges_refused_total") == {(): 1}
    assert increases.of("credits_charged_total") == {}


def test_unauthenticated_requests_are_counted_by_reason(caller: ApiClient) -> None:
    increases = Increases()
    for secret in (None, "svc_live_mistyped", "svc_live_again"):
        ApiClient(secret).get("/v1/me")
    caller.validate("invalid_api_key@sandbox.test")
    assert increases.of("authentication_refusals_total") == {
        ("missing_api_key",): 1,
        ("invalid_api_key",): 2,
    }


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
    increases = Increases()
    with override_settings(ROOT_URLCONF=UnavailableUrls, LOGIN_URL="/accounts/login/"):
        assert caller.get("/v1/away").status_code == 503
        with override_settings(MIDDLEWARE=["runtime.http.middleware.IdentifyRequestMiddleware"]):
            client = Client(raise_request_exception=False)
            assert client.get("/away/").status_code >= 500
    assert increases.of("database_unavailable_total") == {("api",): 1, ("page",): 1}


def test_rate_limit_store_outage_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apikeys.throttling.breaker.PROBE_SECONDS", 0)
    is_healthy, others = threading.Event(), set(threading.enumerate())
    increases, breaker = Increases(), Breaker(is_healthy.is_set)
    for _ in range(3):
        breaker.trip(ConnectionError())
    assert increases.of("limiter_outages_total") == {(): 1}
    is_healthy.set()
    # The probe logs the recovery. Wait for it, so that it is not in the next test's log.
    for prober in set(threading.enumerate()) - others:
        prober.join(10)
    assert not breaker.is_open


def test_emails_are_counted_by_outcome(settings: Settings) -> None:
    increases = Increases()
    outbox.queue_mail(to="jane@shop.example", subject="One", text="", html="")
    outbox.send_due()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    outbox.queue_mail(to="jane@shop.example", subject="Two", text="", html="")
    outbox.send_due()
    assert increases.of("mail_attempts_total") == {("sent",): 1, ("failed",): 1}


def failing_job() -> NoReturn:
    raise ValueError("This job fails.")


def test_daily_jobs_record_their_runs_and_failures(settings: Settings) -> None:
    good = "runtime.mail.outbox.delete_old_mails"
    settings.ON_EVERY_DAY = [f"{__name__}.failing_job", good]
    increases = Increases()
    with pytest.raises(daily.DailyJobsFailed):
        daily.run_daily()
    assert increases.of("daily_job_failures_total") == {("failing_job",): 1}
    both = {("failing_job",), ("delete_old_mails",)}
    assert set(increases.of("daily_job_run_timestamp_seconds")) == both
    assert set(increases.of("daily_job_duration_seconds")) == both
