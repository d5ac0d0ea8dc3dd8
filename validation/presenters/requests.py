from datetime import timedelta

from django.contrib.humanize.templatetags.humanize import naturaltime
from django.urls import reverse

from accounts.date_display import exact_time
from accounts.presenters.elements import EmptyState
from credits.money import format_credits
from engine import MEANINGS, Meaning, explain_result
from validation.models import LogEntry
from validation.presenters.retention import format_days
from validation.probes.assessment import MAX_DURATION
from validation.validations import MAILBOX_PRICE


def format_duration(milliseconds: int) -> str:
    return f"{milliseconds:,} ms" if milliseconds else "<1 ms"


def never_logged(retention_days: int) -> EmptyState:
    if not retention_days:
        text = "They're still validated and counted in Usage."
        return EmptyState("Requests aren't stored.", text)
    return EmptyState(
        "No requests yet.",
        "Requests with your API keys will appear here with their verdicts and reasons.",
        "Read the quickstart",
        reverse("docs:show-guide"),
    )


def no_latest_requests(retention_days: int) -> EmptyState:
    if retention_days:
        period = format_days(retention_days)
        return EmptyState("No requests.", f"There were none in the last {period}.")
    return EmptyState("Requests aren't stored.", "They're only counted, as shown above.")


def time_hint(entry: LogEntry) -> str:
    return f"{naturaltime(entry.at)}, {exact_time(entry.at)}"


def request_data(entry: LogEntry) -> dict[str, object]:
    return {
        "request_id": entry.request_id,
        "created_at": f"{entry.at:%Y-%m-%dT%H:%M:%S}.{entry.at.microsecond // 1000:03}Z",
        "key": entry.key.public_id if entry.key else None,
        "path": entry.path,
        **({"email": entry.address, "batch_id": entry.batch_id or None} if entry.verdict else {}),
    }


def response_data(entry: LogEntry) -> dict[str, object]:
    document = {
        "status": entry.status,
        "duration_ms": entry.duration_ms,
        "sandbox": entry.sandbox,
    }
    if not entry.verdict:
        return document | {"error": entry.refusal or None}
    return document | {
        "id": entry.result_id,
        "replayed": entry.replayed,
        "domain": entry.domain,
        "verdict": entry.verdict,
        "reason": entry.reason,
        "score": entry.score,
        "checks": entry.check_values,
        "account_list": entry.account_list,
        "credits": {"charged": entry.cost},
    }


def outcome_notes(entry: LogEntry) -> list[str]:
    notes = {
        "pending": entry.is_pending,
        "sandbox": entry.sandbox,
        "replay": entry.replayed and bool(entry.verdict),
    }
    return [note for note, applies in notes.items() if applies]


def explain_reason(entry: LogEntry, suggestion: str | None) -> Meaning | None:
    if not entry.is_pending:
        return explain_result(entry.reason, suggestion) if entry.reason in MEANINGS else None
    hours = MAX_DURATION // timedelta(hours=1)
    return Meaning(
        "The mail server hasn't answered yet.",
        f"The final result appears here within {hours} hours.",
    )


def format_cost(entry: LogEntry) -> str:
    if entry.cost:
        return format_credits(entry.cost)
    if entry.replayed:
        return "Free: replayed response"
    if entry.is_pending:
        return f"{format_credits(MAILBOX_PRICE)} held until the mail server answers"
    return "Free: sandbox" if entry.sandbox else "Free: unknown verdict"
