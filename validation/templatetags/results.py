"""Present verdicts and log entries: `{% load results %}`."""

from django import template

from validation.engine.reasons import Verdict
from validation.presenters import checks, first_steps, requests

register = template.Library()
register.filter(requests.outcome_notes)
register.filter(requests.time_hint)
register.filter(first_steps.first_request)
register.filter(checks.group_checks)

_ICONS = {
    Verdict.DELIVERABLE: "circle-check",
    Verdict.RISKY: "triangle-alert",
    Verdict.UNDELIVERABLE: "circle-x",
    Verdict.UNKNOWN: "circle-question-mark",
}


@register.filter
def verdict_icon(verdict: str) -> str:
    return _ICONS[Verdict(verdict)]
