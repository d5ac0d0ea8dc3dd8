"""Keep the engine's domain data fresh between releases of the product.

A signed archive is in one row of the database. Each process loads it in a thread of its own.
"""

import logging
import threading
import time
from base64 import b64decode
from datetime import UTC, date, datetime, timedelta
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from engine import DOMAIN_DATA, DataRelease, ReleaseRefused
from runtime.jobs.leases import Lease
from runtime.metrics.client import Gauge, before_each_flush
from validation.models import StoredDataRelease

logger = logging.getLogger(__name__)

REFRESH_SECONDS = 30.0
MAX_BYTES, DOWNLOAD_SECONDS = 20 * 1024 * 1024, 60.0
LEASE_NAME = "domain-data"
# How far the publisher's clock may be ahead.
MAX_AHEAD = timedelta(days=7)
# The data that were shipped with the product.
SHIPPED_VERSION = DOMAIN_DATA.version

created_at = Gauge(
    "emailvalidation_domain_data_timestamp_seconds",
    "Date of the list of disposable domains, as a Unix timestamp: of the process with the oldest.",
    multiprocess_mode="livemin",
)


def start_loading() -> None:
    """Implement the hook ON_ENGINE_START."""
    before_each_flush.append(measure)
    if settings.DOMAIN_DATA_KEY:
        DomainDataLoader().start()


def measure() -> None:
    day = date.fromisoformat(DOMAIN_DATA.version)
    created_at.set(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def read_archive(source: str) -> bytes:
    """Read a file, or download from a URL. Raise OSError if that fails."""
    if "://" not in source:
        source = Path(source).absolute().as_uri()
    try:
        with urlopen(source, timeout=DOWNLOAD_SECONDS) as response:  # noqa: S310 - operator's choice
            archive: bytes = response.read(MAX_BYTES + 1)
    except HTTPException as error:
        raise OSError(f"The response was cut off: {error!r}") from error
    if len(archive) > MAX_BYTES:
        raise ReleaseRefused("It is larger than 20 MiB.")
    return archive


def store_release(archive: bytes) -> DataRelease:
    """Store a release for all processes, unless they have newer data."""
    release = _open(archive)
    release.require_plausible()
    Lease.objects.get_or_create(name=LEASE_NAME)
    with transaction.atomic():
        # A concurrent update waits.
        Lease.objects.select_for_update().get(name=LEASE_NAME)
        stored = StoredDataRelease.objects.first()
        if stored is not None and release.created_at <= stored.created_at:
            raise ReleaseRefused(f"It isn't newer than the stored data of {stored}.")
        if release.created_at > timezone.now() + MAX_AHEAD:
            raise ReleaseRefused("It is dated in the future, and would keep later ones out.")
        if f"{release.created_at:%Y-%m-%d}" < SHIPPED_VERSION:
            raise ReleaseRefused(f"It is older than the product's data of {SHIPPED_VERSION}.")
        StoredDataRelease.objects.update_or_create(
            pk=1, defaults={"created_at": release.created_at, "archive": archive}
        )
    return release


def download_release() -> None:
    """Do the daily job."""
    if settings.DOMAIN_DATA_URL:
        try:
            store_release(read_archive(settings.DOMAIN_DATA_URL))
        except ReleaseRefused as error:
            logger.info("The downloaded domain data weren't stored: %s", error)
        except OSError as error:
            # An alert watches their age. A failure would repeat the day's other jobs, too.
            logger.warning("The domain data couldn't be downloaded: %s", error)


class DomainDataLoader(threading.Thread):
    """Load what is stored, now and as soon as it changes."""

    def __init__(self) -> None:
        super().__init__(name="domain-data", daemon=True)
        self._loaded_at = datetime.fromtimestamp(0, UTC)

    def run(self) -> None:
        while True:
            try:
                self.load_if_newer()
            except Exception as error:
                logger.warning("The stored domain data can't be loaded", exc_info=error)
            finally:
                connection.close()
            time.sleep(REFRESH_SECONDS)

    def load_if_newer(self) -> None:
        stored = StoredDataRelease.objects.exclude(created_at=self._loaded_at).first()
        if stored is None:
            return
        # The product may have been updated since.
        if f"{stored}" >= SHIPPED_VERSION:
            DOMAIN_DATA.replace(_open(bytes(stored.archive)).files)
            logger.info("Loaded the domain data of %s", stored)
        self._loaded_at = stored.created_at


def _open(archive: bytes) -> DataRelease:
    if not settings.DOMAIN_DATA_KEY:
        raise ReleaseRefused("Set DOMAIN_DATA_KEY to the public key of its publisher.")
    key = Ed25519PublicKey.from_public_bytes(b64decode(settings.DOMAIN_DATA_KEY))
    return DataRelease.open(archive, key)
