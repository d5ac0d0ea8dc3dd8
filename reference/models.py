"""Incidents that staff publish on the status page."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone


# From the best to the worst.
class Impact(models.TextChoices):
    OPERATIONAL = "operational"
    MAINTENANCE = "maintenance", "Planned maintenance"
    DEGRADED = "degraded"
    OUTAGE = "outage"


class Incident(models.Model):
    title = models.CharField(max_length=100)
    impact = models.CharField(max_length=11, choices=Impact.choices[1:], default=Impact.DEGRADED)
    # The components, in the order of the page.
    api = models.BooleanField("API", default=False)
    lists = models.BooleanField("Batches and lists", default=False)
    dashboard = models.BooleanField("Dashboard", default=False)
    webhooks = models.BooleanField("Webhooks", default=False)
    mailbox_checks = models.BooleanField("Mailbox checks", default=False)
    started_at = models.DateTimeField("started at (UTC)", default=timezone.now)
    ended_at = models.DateTimeField(
        "ended at (UTC)",
        null=True,
        blank=True,
        help_text="For maintenance. An update that says “Resolved” sets it.",
    )

    class Meta:
        ordering = ["-started_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(ended_at=None) | Q(ended_at__gte=F("started_at")),
                name="incident_ends_after_its_start",
                violation_error_message="“Ended at” must be after “Started at”.",
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def components(self) -> dict[str, str]:
        """Return the names of the affected components, by code."""
        fields = (field for field in self._meta.fields if getattr(self, field.name) is True)
        return {field.name: str(field.verbose_name) for field in fields}

    @property
    def is_over(self) -> bool:
        return self.ended_at is not None and self.ended_at <= timezone.now()


class IncidentUpdate(models.Model):
    class State(models.TextChoices):
        PLANNED = "planned"
        INVESTIGATING = "investigating"
        IDENTIFIED = "identified"
        MONITORING = "monitoring"
        RESOLVED = "resolved"

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="updates")
    at = models.DateTimeField("time", default=timezone.now, editable=False)
    state = models.CharField(max_length=13, choices=State, default=State.INVESTIGATING)
    text = models.TextField(max_length=2_000)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.get_state_display()}: {self.text}"
