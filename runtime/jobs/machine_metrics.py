"""What ends a service slowly: a full disk, no free connection, no backup, an old certificate."""

import shutil
import socket
import ssl
from contextlib import suppress
from datetime import date
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection
from django.utils import timezone

from runtime.dates import midnight
from runtime.jobs.leases import Lease
from runtime.metrics.client import LatestGauge, at_intervals

BACKUP = "backup"
CONNECT_SECONDS = 5.0
CERTIFICATE_INTERVAL = 3600.0

disk_free = LatestGauge(
    "emailvalidation_disk_free_ratio", "Free share of the file system with DATA_DIR."
)
connections = LatestGauge(
    "emailvalidation_database_connections_ratio",
    "Share of PostgreSQL's max_connections that all of its clients have, or 0 on SQLite.",
)
backed_up = LatestGauge(
    "emailvalidation_backup_timestamp_seconds",
    "Start of the day of the last backup by `manage.py back_up`, as a Unix timestamp, or 0.",
)
certificate = LatestGauge(
    "emailvalidation_certificate_expiry_timestamp_seconds",
    "When the certificate of BASE_URL ends, as a Unix timestamp, or 0 if browsers would refuse it. "
    "Read once an hour, from this machine.",
)


def measure() -> None:
    usage = shutil.disk_usage(settings.DATA_DIR)
    disk_free.set(usage.free / usage.total)
    connections.set(_share_of_connections())
    day = Lease.objects.filter(name=BACKUP).values_list("done_for", flat=True).first()
    backed_up.set(midnight(day).timestamp() if day else 0)


def record_backup() -> None:
    today: date = timezone.now().date()
    Lease.objects.update_or_create(name=BACKUP, defaults={"done_for": today})


def measure_certificate() -> None:
    address = urlsplit(settings.BASE_URL)
    host, port = address.hostname or "", address.port or 443
    # A machine may be unable to reach its own public address.
    with suppress(OSError):
        if address.scheme == "https":
            certificate.set(_read_expiry(host, port))


measure_certificate_if_due = at_intervals(measure_certificate, CERTIFICATE_INTERVAL)


def _share_of_connections() -> float:
    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*)::float / current_setting('max_connections')::float "
            "FROM pg_stat_activity WHERE backend_type = 'client backend'"
        )
        return float(cursor.fetchone()[0])


def _read_expiry(host: str, port: int) -> float:
    context = ssl.create_default_context()
    try:
        with (
            socket.create_connection((host, port), CONNECT_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host) as encrypted,
        ):
            found = encrypted.getpeercert() or {}
    except ssl.SSLError:
        return 0.0
    return float(ssl.cert_time_to_seconds(str(found["notAfter"])))
