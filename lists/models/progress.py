"""How far a list is.

The speed comes from marks: recent times, each with the work done by then.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import Sum
from django.utils import timezone
from django.utils.functional import cached_property

from lists.models.states import ListState

# Waits between checks of unknown results.
RECHECK_AFTER = (timedelta(minutes=1), timedelta(minutes=10), timedelta(minutes=60))
# Looking up a domain takes about as long as checking ten addresses.
WORK_PER_DOMAIN = 10
_MARK_SECONDS, _WINDOW_SECONDS = 5.0, 30.0

Marks = list[tuple[float, int]]


def add_mark(marks: Marks, now: float, work: int) -> Marks:
    """Add a mark if the last one is old enough. Keep one from before the window, its start."""
    if marks and now - marks[-1][0] < _MARK_SECONDS:
        return marks
    recent = [mark for mark in marks if now - mark[0] <= _WINDOW_SECONDS]
    older = marks[: len(marks) - len(recent)]
    return [*older[-1:], *recent, (now, work)]


def find_speed(marks: Marks, now: float) -> float | None:
    """Return the work per second, or None without recent progress."""
    if len(marks) < 2 or now - marks[-1][0] > _WINDOW_SECONDS:
        return None
    (began, before), (ended, after) = marks[0], marks[-1]
    return (after - before) / (ended - began) if after > before else None


class ListProgress(models.Model):
    # DomainBlock.list
    blocks: Any

    state = models.CharField(max_length=12, default=ListState.UPLOADING)
    # Distinct addresses.
    addresses = models.PositiveIntegerField(default=0)
    domains = models.PositiveIntegerField(default=0, db_default=0)
    checks_mailboxes = models.BooleanField(default=False, db_default=False)
    checked = models.PositiveIntegerField(default=0)
    # Addresses whose mail server is asked, and those of them that have a result.
    mailboxes = models.PositiveIntegerField(default=0, db_default=0)
    mailboxes_checked = models.PositiveIntegerField(default=0, db_default=0)
    # When their answers are collected again, and when about the last one is expected.
    collect_at = models.DateTimeField(null=True)
    mailboxes_end_at = models.DateTimeField(null=True)
    # Recent times, each with the work done by then, for the speed.
    progress_marks = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
    # How often unknown results were checked again.
    rechecks = models.PositiveSmallIntegerField(default=0)
    recheck_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    # When every address had a result. Unknown ones may be checked again after it.
    results_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @cached_property
    def domains_looked_up(self) -> int:
        return int(self.blocks.aggregate(sum=Sum("looked_up"))["sum"] or 0)

    @property
    def domains_checked(self) -> int:
        if self.checked or self.results_at:
            # Addresses wait for all domains, whose blocks are deleted at the end.
            return self.domains
        return self.domains_looked_up if self.domains and self.started_at else 0

    @property
    def work(self) -> int:
        return WORK_PER_DOMAIN * self.domains + self.addresses

    @property
    def work_done(self) -> int:
        """Return the work without mail servers."""
        return WORK_PER_DOMAIN * self.domains_checked + self.checked + self.mailboxes_waiting

    @property
    def mailboxes_waiting(self) -> int:
        return self.mailboxes - self.mailboxes_checked

    @property
    def is_checking_mailboxes(self) -> bool:
        """Return whether the list only waits for mail servers."""
        is_running = self.state in {ListState.RUNNING, ListState.PAUSED}
        return is_running and self.mailboxes_waiting > 0 and self.work_done >= self.work

    @property
    def percent_checked(self) -> int:
        """Return the share of the work that is done, rounded down."""
        if not self.work:
            return 100 if self.state == ListState.COMPLETED else 0
        percent = 100 * self.work_done // self.work
        if not self.checks_mailboxes:
            return percent
        # Mail servers take most of the time.
        return (percent + 9 * (100 * self.checked // max(1, self.addresses))) // 10

    @property
    def speed(self) -> float | None:
        """Return the work per second, or None if it isn't known."""
        is_running = self.state == ListState.RUNNING
        return find_speed(self.progress_marks, timezone.now().timestamp()) if is_running else None

    @property
    def seconds_left(self) -> int | None:
        if self.is_checking_mailboxes and self.mailboxes_end_at is not None:
            return max(0, round((self.mailboxes_end_at - timezone.now()).total_seconds()))
        if self.checks_mailboxes:
            return None
        return round((self.work - self.work_done) / self.speed) if self.speed else None

    def mark_progress(self, *, newly_checked: int = 0) -> None:
        """Record the work done, for the speed."""
        now, work = timezone.now().timestamp(), self.work_done + newly_checked
        marks = add_mark(self.progress_marks, now, work)
        if marks is not self.progress_marks:
            type(self)._base_manager.filter(pk=self.pk).update(progress_marks=marks)

    @property
    def rechecks_end_at(self) -> datetime | None:
        """Return when the last check of unknown results is due, if all are needed."""
        if self.state != ListState.RECHECKING:
            return None
        if self.recheck_at is None:
            return timezone.now() + sum(RECHECK_AFTER[self.rechecks :], timedelta())
        return self.recheck_at + sum(RECHECK_AFTER[self.rechecks + 1 :], timedelta())
