"""Sample responses for the reference. Their results come from the engine and the sandbox."""

from validation.lists.api.serializers import NOT_IN_LISTS
from validation.lists.payloads import RowKind
from validation.results.sample_results import sandbox_result

LIST_ID_EXAMPLE = "lst_4Fq8ZnWcR2tKvYx6BdJm"
_VERDICTS = {"deliverable": 30_100, "risky": 5_012, "undeliverable": 4_380, "unknown": 508}
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
    "progress": {
        "checked": 40_000,
        "total": 48_120,
        "percent": 83,
        "seconds_left": 4,
        "rechecks": 0,
        "recheck_at": None,
    },
    "verdicts": _VERDICTS,
    "credits": {"at_most": 48_120, "held": 8_628, "charged": 39_492},
    "bytes": 2_411_722,
    "column": 2,
    "header": True,
    "dedupe": "address",
    "recheck_unknown": True,
    "metadata": {"campaign": "spring"},
    "created_at": "2026-11-20T18:30:00.123Z",
    "started_at": "2026-11-20T18:31:12.540Z",
    "finished_at": None,
    "expires_at": None,
}
COMPLETED_EXAMPLE = RUNNING_EXAMPLE | {
    "state": "completed",
    "progress": {
        "checked": 48_120,
        "total": 48_120,
        "percent": 100,
        "seconds_left": None,
        "rechecks": 3,
        "recheck_at": None,
    },
    "verdicts": {"deliverable": 36_730, "risky": 6_015, "undeliverable": 5_290, "unknown": 85},
    "credits": {"at_most": 48_120, "held": 0, "charged": 48_035},
    "finished_at": "2026-11-20T19:43:05.002Z",
    "expires_at": "2026-12-20T19:43:05.002Z",
}
READY_EXAMPLE = RUNNING_EXAMPLE | {
    "state": "ready",
    "progress": {
        "checked": 0,
        "total": 48_120,
        "percent": 0,
        "seconds_left": None,
        "rechecks": 0,
        "recheck_at": None,
    },
    "verdicts": dict.fromkeys(_VERDICTS, 0),
    "credits": {"at_most": 48_120, "held": 0, "charged": 0},
    "started_at": None,
    "expires_at": "2026-12-20T18:30:09.000Z",
}
PARSING_EXAMPLE = READY_EXAMPLE | {
    "state": "parsing",
    "counts": None,
    "progress": {
        "checked": 0,
        "total": 0,
        "percent": 0,
        "seconds_left": None,
        "rechecks": 0,
        "recheck_at": None,
    },
    "credits": {"at_most": None, "held": 0, "charged": 0},
    "column": None,
    "header": None,
    "expires_at": None,
}
UPLOADING_EXAMPLE = PARSING_EXAMPLE | {"state": "uploading", "bytes": 0}
PART_EXAMPLE = {
    "number": 1,
    "bytes": 8_388_608,
    "sha256": "44aff4ab2d7c3250525675a08f0cfa9591168cffe51791c5f5bbc417c15a6c38",
}
QUEUED_EXAMPLE = READY_EXAMPLE | {
    "state": "queued",
    "credits": {"at_most": 48_120, "held": 48_120, "charged": 0},
    "started_at": "2026-11-20T18:31:12.540Z",
    "expires_at": None,
}
PAUSED_EXAMPLE = RUNNING_EXAMPLE | {
    "state": "paused",
    "progress": {
        "checked": 40_000,
        "total": 48_120,
        "percent": 83,
        "seconds_left": None,
        "rechecks": 0,
        "recheck_at": None,
    },
}
CANCELED_EXAMPLE = PAUSED_EXAMPLE | {
    "state": "canceled",
    "credits": {"at_most": 48_120, "held": 0, "charged": 39_492},
    "finished_at": "2026-11-20T18:33:40.870Z",
    "expires_at": "2026-12-20T18:33:40.870Z",
}


def _row(number: int, word: str) -> dict[str, object]:
    result = sandbox_result(word)
    document = {name: value for name, value in result.items() if name not in NOT_IN_LISTS}
    kind = RowKind.ADDRESS.name.lower()
    return {"row": number, "kind": kind, "duplicate_of": None, "result": document}


RESULTS_EXAMPLE = {
    "data": [
        _row(1, "deliverable"),
        {"row": 2, "kind": "empty", "duplicate_of": None, "result": None},
        {**_row(3, "deliverable"), "kind": "duplicate", "duplicate_of": 1},
    ],
    "has_more": False,
    "next": None,
    "state": "completed",
}
DOWNLOAD_CSV = (
    "name,email,ev_verdict,ev_reason,ev_score,ev_safe_to_send,ev_did_you_mean,ev_normalized\r\n"
    "Jane,deliverable@sandbox.test,deliverable,mailbox_accepted,100,true,,"
    "deliverable@sandbox.test\r\n"
)
DOWNLOAD_JSON_LINES = (
    '{"row":1,"kind":"address","duplicate_of":null,"result":{…},'
    '"cells":["Jane","deliverable@sandbox.test"]}\n'
)
PREVIEW_EXAMPLE = {
    "format": "text",
    "encoding": "utf-8",
    "delimiter": ";",
    "header": ["id", "name", "email"],
    "first_rows": [["1", "Jane Doe", "jane@shop.example"], ["2", "John Roe", ""]],
    "column": 2,
    "guessed_column": 2,
    "columns": [
        {"index": 0, "name": "id", "evidence": "0% of the first 999 cells are addresses"},
        {"index": 1, "name": "name", "evidence": "0% of the first 999 cells are addresses"},
        {"index": 2, "name": "email", "evidence": "98% of the first 992 cells are addresses"},
    ],
    "counts": RUNNING_EXAMPLE["counts"],
    "shares": {
        "disposable": 0.0112,
        "free_provider": 0.6203,
        "role_account": 0.0371,
        "top_domains": [{"domain": "mailbox.test", "share": 0.4127}],
    },
    "price": {"at_most": 48_120},
}
SAMPLE_EXAMPLE = {
    "size": 200,
    "created_at": "2026-11-20T18:30:40.333Z",
    "shares": {
        "deliverable": {"share": 0.76, "low": 0.6964, "high": 0.8139},
        "risky": {"share": 0.125, "low": 0.0861, "high": 0.178},
        "undeliverable": {"share": 0.105, "low": 0.0697, "high": 0.1552},
        "unknown": {"share": 0.01, "low": 0.0027, "high": 0.0357},
    },
}
