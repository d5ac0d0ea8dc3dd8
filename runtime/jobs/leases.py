"""Leases: a job that several background workers may start is done by the one that holds it."""

from datetime import date, timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone

# No lease is taken for longer than an hour. One that ends later than this was taken while the clock
# was ahead, and counts for nothing.
LONGEST = timedelta(hours=2)


class LeaseQuerySet(models.QuerySet["Lease"]):
    def take(self, name: str, holder: str, *, seconds: int) -> bool:
        """True for the one holder; it may take again to prolong. A dead holder's lease runs out."""
        now = timezone.now()
        self.get_or_create(name=name)
        ended = Q(until=None) | Q(until__lte=now) | Q(until__gt=now + LONGEST)
        free = ended | Q(holder=holder)
        until = now + timedelta(seconds=seconds)
        return self.filter(free, name=name).update(holder=holder, until=until) == 1

    def finish(self, name: str, holder: str, *, day: date) -> None:
        self.filter(name=name, holder=holder).update(done_for=day, until=None)

    def note_done(self, name: str, *, day: date) -> None:
        """By somebody who holds no lease: a person, or a timer of theirs."""
        self.update_or_create(name=name, defaults={"done_for": day})

    def rest(self, name: str, holder: str, *, seconds: int) -> None:
        """After a failure nobody, this holder included, tries again for a while."""
        until = timezone.now() + timedelta(seconds=seconds)
        self.filter(name=name, holder=holder).update(holder="", until=until)

    def is_done_for(self, name: str, day: date) -> bool:
        """A later day was noted while the clock was ahead. Work that is done twice does no harm."""
        return self.filter(name=name, done_for=day).exists()


class Lease(models.Model):
    name = models.CharField(max_length=50, primary_key=True)
    holder = models.CharField(max_length=100, blank=True)
    until = models.DateTimeField(null=True)
    # The last day whose work was finished, for jobs of a day.
    done_for = models.DateField(null=True)

    objects = LeaseQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name
