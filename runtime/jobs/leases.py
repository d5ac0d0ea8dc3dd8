"""Leases: of several background workers, only the one that holds the lease runs a job."""

from datetime import date, timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone

from runtime.database.leased_rows import is_past

# Leases are acquired for at most an hour. One that ends later than this was acquired while the
# clock was ahead, and is ignored.
MAX_LEASE = timedelta(hours=2)


class LeaseQuerySet(models.QuerySet["Lease"]):
    def acquire(self, name: str, holder: str, *, seconds: int) -> bool:
        """Return True for exactly one holder, which may call this again to renew the lease.

        The lease of a holder that died expires.
        """
        now = timezone.now()
        self.get_or_create(name=name)
        is_expired = Q(until=None) | is_past("until", now, MAX_LEASE)
        is_free = is_expired | Q(holder=holder)
        until = now + timedelta(seconds=seconds)
        return self.filter(is_free, name=name).update(holder=holder, until=until) == 1

    def complete(self, name: str, holder: str, *, day: date) -> None:
        """Record that the holder finished the day's work, and release its lease."""
        self.filter(name=name, holder=holder).update(done_for=day, until=None)

    def mark_done(self, name: str, *, day: date) -> None:
        """Record that the day's work was finished without a lease, by the run_daily command."""
        self.update_or_create(name=name, defaults={"done_for": day})

    def back_off(self, name: str, holder: str, *, seconds: int) -> None:
        """Keep every worker, this holder included, from retrying for some time after a failure."""
        until = timezone.now() + timedelta(seconds=seconds)
        self.filter(name=name, holder=holder).update(holder="", until=until)

    def is_done_for(self, name: str, day: date) -> bool:
        """Return whether exactly this day's work is done.

        A later day was recorded while the clock was ahead. Running the jobs twice does no harm.
        """
        return self.filter(name=name, done_for=day).exists()


class Lease(models.Model):
    name = models.CharField(max_length=50, primary_key=True)
    holder = models.CharField(max_length=100, blank=True)
    until = models.DateTimeField(null=True)
    # The last day whose work was finished, for daily jobs.
    done_for = models.DateField(null=True)

    objects = LeaseQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name
