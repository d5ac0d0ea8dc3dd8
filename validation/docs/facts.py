"""What the pages tell of the program, read from the program: by the page's name."""

import json
from collections.abc import Callable
from typing import Any

from django.conf import settings

from apikeys import crypto
from apikeys.errors import REFUSALS, SAMPLE_DETAILS, Refusal
from apikeys.forms import GRACE_LABELS, LIFETIMES, MOST_NETWORKS
from apikeys.models import MOST_ACTIVE, SOON
from apikeys.rest import reference
from apikeys.rest.paths import MAX_BODY_BYTES
from apikeys.rest.strict_json import DEEPEST
from apikeys.throttling.limits import WINDOW_SECONDS
from credits.models import Pack, Plan
from validation.api import LONGEST_EMAIL
from validation.docs.changelog import FOR_OPERATORS, read_changelog
from validation.docs.pages import Page
from validation.engine.dns.providers import HOSTS, OTHER
from validation.engine.meanings import by_verdict
from validation.engine.mistakes import SENTENCES
from validation.engine.reasons import PRECEDENCE, Verdict
from validation.engine.score import BEST, LOWEST, WEIGHTS
from validation.models import MOST_SANDBOX_REPLAYS
from validation.reports.api import MOST_DAYS, USUAL_DAYS
from validation.sample_results import mistyped_result, sandbox_result

Facts = dict[str, Any]
# Whose answer is shown whole on the page that explains each field.
WHOLE_ANSWER = "disposable"
_RATE_HEADERS = ("X-RateLimit", "RateLimit", "Retry-After")


def facts_of(page: Page) -> Facts:
    tell = _TELLERS.get(page.name)
    return tell() if tell else {}


def _authentication() -> Facts:
    return {
        "key_length": len(crypto.PREFIX) + crypto.RANDOM_LENGTH + crypto.CHECKSUM_LENGTH,
        "refusals": [*_refusals(401), *_refusals(403)],
        "graces": [label.lower() for label in GRACE_LABELS],
        "lifetimes": [label.lower() for label in LIFETIMES.values()],
        "announced_days": SOON.days,
        "most_keys": MOST_ACTIVE,
        "most_networks": MOST_NETWORKS,
    }


def _validate() -> Facts:
    return {
        "operation": next(one for one in reference.operations() if one.id == "validate"),
        "whole_answer": _json(sandbox_result(WHOLE_ANSWER)),
        "mistyped": _json(mistyped_result()),
        "largest_body": MAX_BODY_BYTES,
        "longest_email": LONGEST_EMAIL,
        "deepest": DEEPEST,
        "mistakes": SENTENCES.items(),
        "providers": [*(name for name, _ in HOSTS), OTHER],
    }


def _json(result: Facts) -> str:
    return json.dumps(result, indent=2, ensure_ascii=False)


def _verdicts() -> Facts:
    return {
        "verdicts": by_verdict(),
        "best": [(verdict, evidence, best) for (verdict, evidence), best in BEST.items()],
        "weights": WEIGHTS.items(),
        "lowest": LOWEST.items(),
    }


def _rate_limits() -> Facts:
    headers = [one for one in reference.answer_headers() if one.path.startswith(_RATE_HEADERS)]
    return {
        "headers": headers,
        "window": WINDOW_SECONDS,
        "anonymous_limit": settings.ANONYMOUS_REQUESTS_PER_MINUTE,
        **_offers(),
    }


def _credits() -> Facts:
    return {
        **_offers(),
        "usual_days": USUAL_DAYS,
        "most_days": MOST_DAYS,
        "free_accounts_per_domain": settings.SIGN_UP_CREDITS_PER_DOMAIN,
    }


def _offers() -> Facts:
    return {"plans": Plan.objects.offered(), "packs": Pack.objects.offered()}


def _idempotency() -> Facts:
    return {"most_sandbox_replays": MOST_SANDBOX_REPLAYS}


def _sandbox() -> Facts:
    words = [*(verdict.value for verdict in Verdict), *PRECEDENCE]
    return {
        "results": [(word, sandbox_result(word)) for word in words],
        "refusals": _refusals(),
        "most_sandbox_replays": MOST_SANDBOX_REPLAYS,
    }


def _reference() -> Facts:
    return {
        "operations": reference.operations(),
        "answer_headers": reference.answer_headers(),
    }


def _errors() -> Facts:
    return {
        "entries": [(*entry, SAMPLE_DETAILS.get(entry[0], {}).items()) for entry in _refusals()]
    }


def _changelog() -> Facts:
    releases = read_changelog((settings.BASE_DIR / "CHANGELOG.md").read_text())
    for release in releases:
        release.changes = [one for one in release.changes if one.title != FOR_OPERATORS]
    return {"releases": releases}


def _refusals(status: int | None = None) -> list[tuple[str, Refusal]]:
    return [(code, one) for code, one in REFUSALS.items() if status in (None, one.status)]


_TELLERS: dict[str, Callable[[], Facts]] = {
    "show-authentication": _authentication,
    "show-validate": _validate,
    "show-verdicts": _verdicts,
    "show-rate-limits": _rate_limits,
    "show-credits": _credits,
    "show-idempotency": _idempotency,
    "show-sandbox": _sandbox,
    "show-reference": _reference,
    "show-errors": _errors,
    "show-changelog": _changelog,
}
