from django.conf import settings

LIST_ID_EXAMPLE = "lst_4Fq8ZnWcR2tKvYx6BdJm"
_NO_PROGRESS = {
    "rows_read": 50_000,
    "domains_checked": 0,
    "domains_total": 3_120,
    "checked": 0,
    "total": 48_120,
    **({"mailboxes_checked": 0, "mailboxes_total": 0} if settings.PROBE_MAILBOX_CHECKS else {}),
    "percent": 0,
    "seconds_left": None,
    "rechecks": 0,
    "recheck_at": None,
    "rechecks_end_at": None,
}
_HALFWAY = _NO_PROGRESS | {"domains_checked": 3_120, "checked": 40_000, "percent": 89}
RUNNING_EXAMPLE: dict[str, object] = {
    "id": LIST_ID_EXAMPLE,
    "name": "customers.csv",
    "state": "running",
    "error": None,
    "counts": {
        "rows": 50_000,
        "empty": 380,
        "not_address": 20,
        "bad_syntax": 310,
        "duplicates": 1_480,
        "addresses": 48_120,
    },
    "progress": _HALFWAY | {"seconds_left": 4},
    "verdicts": {"deliverable": 30_100, "risky": 5_012, "undeliverable": 4_380, "unknown": 508},
    "reasons": {
        "domain_accepts_mail": 30_100,
        "disposable": 5_012,
        "domain_not_found": 4_380,
        "dns_timeout": 508,
    },
    "safe_to_send": 0,
    "credits": {"at_most": 48_120, "held": 8_628, "charged": 39_492},
    "bytes": 2_411_722,
    "column": 2,
    "header": True,
    **({"check": "dns"} if settings.PROBE_MAILBOX_CHECKS else {}),
    "dedupe": "address",
    "recheck_unknown": True,
    "metadata": {"campaign": "spring"},
    "created_at": "2026-11-20T18:30:00.123Z",
    "started_at": "2026-11-20T18:31:12.540Z",
    "results_at": None,
    "finished_at": None,
    "expires_at": None,
}
COMPLETED_EXAMPLE = RUNNING_EXAMPLE | {
    "state": "completed",
    "progress": _HALFWAY | {"checked": 48_120, "percent": 100, "rechecks": 3},
    "verdicts": {"deliverable": 36_730, "risky": 6_015, "undeliverable": 5_290, "unknown": 85},
    "reasons": {
        "domain_accepts_mail": 36_730,
        "disposable": 6_015,
        "domain_not_found": 5_290,
        "dns_timeout": 85,
    },
    "credits": {"at_most": 48_120, "held": 0, "charged": 48_035},
    "results_at": "2026-11-20T18:31:18.920Z",
    "finished_at": "2026-11-20T19:43:05.002Z",
    "expires_at": "2026-12-20T19:43:05.002Z",
}
READY_EXAMPLE = RUNNING_EXAMPLE | {
    "state": "ready",
    "progress": _NO_PROGRESS,
    "verdicts": {"deliverable": 0, "risky": 0, "undeliverable": 0, "unknown": 0},
    "reasons": {},
    "credits": {"at_most": 48_120, "held": 0, "charged": 0},
    "started_at": None,
    "expires_at": "2026-12-20T18:30:09.000Z",
}
PARSING_EXAMPLE = READY_EXAMPLE | {
    "state": "parsing",
    "counts": None,
    "progress": _NO_PROGRESS | {"rows_read": 0, "domains_total": 0, "total": 0},
    "credits": {"at_most": None, "held": 0, "charged": 0},
    "column": None,
    "header": None,
    "expires_at": None,
}
UPLOADING_EXAMPLE = PARSING_EXAMPLE | {"state": "uploading", "bytes": 0}
QUEUED_EXAMPLE = READY_EXAMPLE | {
    "state": "queued",
    "credits": {"at_most": 48_120, "held": 48_120, "charged": 0},
    "started_at": "2026-11-20T18:31:12.540Z",
    "expires_at": None,
}
PAUSED_EXAMPLE = RUNNING_EXAMPLE | {"state": "paused", "progress": _HALFWAY}
CANCELED_EXAMPLE = PAUSED_EXAMPLE | {
    "state": "canceled",
    "credits": {"at_most": 48_120, "held": 0, "charged": 39_492},
    "finished_at": "2026-11-20T18:33:40.870Z",
    "expires_at": "2026-12-20T18:33:40.870Z",
}
