from datetime import date, timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone

from runtime.database.leased_rows import is_past

# A lease that ends later was acquired while the clock was ahead.
MAX_LEASE = timedelta(hours=2)


class LeaseQuerySet(models.QuerySet["Lease"]):
    def acquire(self, name: str, holder: str, *, seconds: int) -> bool:
        """Return True for exactly one holder, which also renews the lease by calling this."""
        now = timezone.now()
        self.get_or_create(name=name)
        is_expired = Q(until=None) | is_past("until", now, MAX_LEASE)
        is_free = is_expired | Q(holder=holder)
        until = now + timedelta(seconds=seconds)
        return self.filter(is_free, name=name).update(holder=holder, until=until) == 1

    def complete(self, name: str, holder: str, *, day: date) -> None:
        self.filter(name=name, holder=holder).update(done_for=day, until=None)

    def back_off(self, name: str, holder: str, *, seconds: int) -> None:
        """Keep every worker, even this holder, from retrying."""
        until = timezone.now() + timedelta(seconds=seconds)
        self.filter(name=name, holder=holder).update(holder="", until=until)

    def is_done_for(self, name: str, day: date) -> bool:
        """Match exactly this day: a wrong clock may have recorded a later one."""
        return self.filter(name=name, done_for=day).exists()


class Lease(models.Model):
    name = models.CharField(max_length=50, primary_key=True)
    holder = models.CharField(max_length=100, blank=True)
    until = models.DateTimeField(null=True)
    done_for = models.DateField(null=True)

    objects = LeaseQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name
