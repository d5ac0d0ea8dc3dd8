"""Return pending results as they are now."""

import math
from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from engine import PENDING_SECONDS
from validation.models import Probe

_MARK = b'"smtp":{"state":"pending"'


def has_pending(body: bytes) -> bool:
    # No text in the result can contain it: its quotes would be escaped.
    return _MARK in body


def is_pending(result: Mapping[str, Any]) -> bool:
    return bool(result["smtp"] and result["smtp"]["state"] == "pending")


def announce(result_id: str) -> bool:
    """Remember that a response says pending, so the end is an event. Return False if it's done."""
    probes = Probe.objects.waiting().filter(result_id=result_id)
    return bool(probes.update(is_announced=True))


def refresh(result: dict[str, Any]) -> bool:
    """Announce a pending result, and update its `retry_after_s`. Return False if it's done."""
    probes = Probe.objects.filter(result_id=result["id"])
    next_at = probes.values_list("next_attempt_at", flat=True).first()
    if next_at is None or not announce(result["id"]):
        return False
    seconds = (next_at - timezone.now()).total_seconds()
    result["retry_after_s"] = max(PENDING_SECONDS[0], math.ceil(seconds))
    return True
