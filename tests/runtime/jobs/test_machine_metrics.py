"""The background worker measures what ends a service slowly."""

import ssl
import subprocess
import time
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone
from prometheus_client import REGISTRY
from pytest_django import Settings

from accounts.models import Account
from credits.models import Wallet
from credits.wallet.books import check_daily
from runtime.dates import midnight
from runtime.jobs import machine_metrics, queue_metrics
from tests.servers.receiver import receiver
from tests.servers.redis import free_port

pytestmark = pytest.mark.django_db


def read(name: str) -> float:
    value = REGISTRY.get_sample_value(f"emailvalidation_{name}")
    assert value is not None
    return value


def test_disk_and_connections_are_measured() -> None:
    queue_metrics.measure()
    assert 0 < read("disk_free_ratio") < 1
    share = read("database_connections_ratio")
    assert 0 < share < 1 if connection.vendor == "postgresql" else share == 0


def test_day_of_the_last_backup_is_known() -> None:
    machine_metrics.measure()
    assert read("backup_timestamp_seconds") == 0
    machine_metrics.record_backup()
    machine_metrics.measure()
    assert read("backup_timestamp_seconds") == midnight(timezone.now().date()).timestamp()


def test_daily_check_of_the_books_counts_and_logs_discrepancies(
    account: Account, caplog: pytest.LogCaptureFixture
) -> None:
    check_daily()
    assert read("books_discrepancies") == 0
    Wallet.objects.filter(account=account).update(balance=1_234_567)
    check_daily()
    assert read("books_discrepancies") == 1
    assert f"The books disagree: {account.public_id}: balance 1234567" in caplog.text


@pytest.fixture
def certificate(tmp_path: Path, settings: Settings) -> Path:
    """A certificate for localhost that ends in two days."""
    path = tmp_path / "localhost.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"),
            *("-pkeyopt", "ec_paramgen_curve:P-256", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", str(path), "-out", str(tmp_path / "public.pem")),
        ],
        check=True,
        capture_output=True,
    )
    public = (tmp_path / "public.pem").read_text()
    path.write_text(path.read_text() + public)
    return path


def measure_certificate(certificate: Path, settings: Settings) -> float:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with receiver(tls=context) as server:
        settings.BASE_URL = f"https://localhost:{server.port}"
        machine_metrics.measure_certificate()
    return read("certificate_expiry_timestamp_seconds")


def test_end_of_the_certificate_is_known(
    certificate: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert measure_certificate(certificate, settings) == 0
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    ends_at = measure_certificate(certificate, settings)
    assert 47 * 3600 < ends_at - time.time() <= 48 * 3600
    # A machine that can't reach its own address knows nothing new.
    settings.BASE_URL = f"https://localhost:{free_port()}"
    machine_metrics.measure_certificate()
    assert read("certificate_expiry_timestamp_seconds") == ends_at
