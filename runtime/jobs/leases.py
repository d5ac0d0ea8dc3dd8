from datetime import date, timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone

from runtime.database.leased_rows import is_past

# A lease that ends later was acquired while the clock was ahead.
MAX_LEASE = timedelta(hours=2)


class LeaseQuerySet(models.QuerySet["Lease"]):
    def acquire(self, name: str, holder: str, *, day: date, seconds: int) -> bool:
        """Return True for exactly one holder, unless the day's work is done."""
        now = timezone.now()
        self.get_or_create(name=name)
        is_free = Q(until=None) | is_past("until", now, MAX_LEASE) | Q(holder=holder)
        # Exactly this day: a wrong clock may have recorded a later one.
        leases = self.filter(is_free, name=name).exclude(done_for=day)
        return leases.update(holder=holder, until=now + timedelta(seconds=seconds)) == 1

    def complete(self, name: str, holder: str, *, day: date) -> None:
        self.filter(name=name, holder=holder).update(done_for=day, until=None)

    def back_off(self, name: str, holder: str, *, seconds: int) -> None:
        """Keep every worker, even this holder, from retrying."""
        until = timezone.now() + timedelta(seconds=seconds)
        self.filter(name=name, holder=holder).update(holder="", until=until)


class Lease(models.Model):
    name = models.CharField(max_length=50, primary_key=True)
    holder = models.CharField(max_length=100, blank=True)
    until = models.DateTimeField(null=True)
    done_for = models.DateField(null=True)

    objects = LeaseQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name
