"""The objects of responses. `python -m tools.client_types` writes this file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from emailvalidation._model import Model


@dataclass(frozen=True)
class RateLimit(Model):
    limit: int
    window: int


@dataclass(frozen=True)
class Checks(Model):
    syntax: Optional[bool]
    domain_exists: Optional[bool]
    accepts_mail: Optional[bool]
    null_mx: Optional[bool]
    disposable: Optional[bool]
    free_provider: Optional[bool]
    relay: Optional[bool]
    role_account: Optional[bool]
    no_reply: Optional[bool]
    has_tag: Optional[bool]
    reserved_domain: Optional[bool]
    smtputf8_required: Optional[bool]
    mixed_script: Optional[bool]
    accept_all: Optional[bool]
    mailbox_exists: Optional[bool]
    mailbox_full: Optional[bool]
    mailbox_disabled: Optional[bool]
    machine_address: Optional[bool]
    placeholder: Optional[bool]


@dataclass(frozen=True)
class SyntaxProblem(Model):
    code: str
    message: str


@dataclass(frozen=True)
class MxRecord(Model):
    preference: int
    host: str


@dataclass(frozen=True)
class Mx(Model):
    provider: Optional[str]
    fallback: Optional[str]
    gateway: Optional[bool]
    ipv4: Optional[bool]
    records: list[MxRecord]


@dataclass(frozen=True)
class DomainAuth(Model):
    spf: Optional[str]
    dmarc: Optional[str]


@dataclass(frozen=True)
class Smtp(Model):
    state: str
    host: Optional[str]
    stage: Optional[str]
    code: Optional[int]
    status: Optional[str]
    message: Optional[str]
    tls: Optional[bool]
    control: Optional[str]
    probed_at: Optional[str]
    attempts: Optional[int]
    skipped: Optional[str]


@dataclass(frozen=True)
class ConsultedLists(Model):
    disposable: str
    disposable_by: Optional[str]


@dataclass(frozen=True)
class ResultCredits(Model):
    charged: int
    held: int
    remaining: int


@dataclass(frozen=True)
class Result(Model):
    id: str
    created_at: str
    sandbox: bool
    email: str
    normalized: Optional[str]
    canonical: Optional[str]
    verdict: str
    reason: str
    reasons: list[str]
    score: Optional[int]
    evidence: str
    safe_to_send: Optional[bool]
    accept_for_signup: bool
    did_you_mean: Optional[str]
    lookalike_of: Optional[str]
    retry_after_s: Optional[int]
    local_part: Optional[str]
    tag: Optional[str]
    domain: Optional[str]
    ascii_domain: Optional[str]
    registrable_domain: Optional[str]
    checks: Checks
    syntax_error: Optional[SyntaxProblem]
    mx: Mx
    domain_auth: DomainAuth
    smtp: Optional[Smtp]
    lists: ConsultedLists
    account_list: Optional[str]
    duration_ms: int
    dns_cached: Optional[bool]
    credits: ResultCredits


@dataclass(frozen=True)
class BatchResult(Model):
    id: str
    created_at: str
    sandbox: bool
    email: str
    normalized: Optional[str]
    canonical: Optional[str]
    verdict: str
    reason: str
    reasons: list[str]
    score: Optional[int]
    evidence: str
    safe_to_send: Optional[bool]
    accept_for_signup: bool
    did_you_mean: Optional[str]
    lookalike_of: Optional[str]
    retry_after_s: Optional[int]
    local_part: Optional[str]
    tag: Optional[str]
    domain: Optional[str]
    ascii_domain: Optional[str]
    registrable_domain: Optional[str]
    checks: Checks
    syntax_error: Optional[SyntaxProblem]
    mx: Mx
    domain_auth: DomainAuth
    smtp: Optional[Smtp]
    lists: ConsultedLists
    account_list: Optional[str]
    duration_ms: int
    dns_cached: Optional[bool]
    credits: ResultCredits
    duplicate_of: Optional[int]


@dataclass(frozen=True)
class BatchSummary(Model):
    deliverable: int
    risky: int
    undeliverable: int
    unknown: int
    duplicates: int


@dataclass(frozen=True)
class Batch(Model):
    id: str
    created_at: str
    results: list[BatchResult]
    summary: BatchSummary
    duration_ms: int
    credits: ResultCredits


@dataclass(frozen=True)
class Feedback(Model):
    id: str
    state: str


@dataclass(frozen=True)
class ListError(Model):
    code: str
    message: str


@dataclass(frozen=True)
class ListCounts(Model):
    rows: int
    empty: int
    not_address: int
    bad_syntax: int
    duplicates: int
    addresses: int


@dataclass(frozen=True)
class ListProgress(Model):
    rows_read: int
    domains_checked: int
    domains_total: int
    checked: int
    total: int
    mailboxes_checked: int
    mailboxes_total: int
    percent: int
    seconds_left: Optional[int]
    rechecks: int
    recheck_at: Optional[str]
    rechecks_end_at: Optional[str]


@dataclass(frozen=True)
class ListVerdicts(Model):
    deliverable: int
    risky: int
    undeliverable: int
    unknown: int


@dataclass(frozen=True)
class ListCredits(Model):
    at_most: Optional[int]
    held: int
    charged: int


@dataclass(frozen=True)
class AddressList(Model):
    id: str
    name: str
    state: str
    error: Optional[ListError]
    counts: Optional[ListCounts]
    progress: ListProgress
    verdicts: ListVerdicts
    reasons: dict[str, Any]
    safe_to_send: int
    credits: ListCredits
    bytes: int
    column: Optional[int]
    header: Optional[bool]
    check: str
    dedupe: str
    recheck_unknown: bool
    metadata: dict[str, Any]
    created_at: str
    started_at: Optional[str]
    results_at: Optional[str]
    finished_at: Optional[str]
    expires_at: Optional[str]


@dataclass(frozen=True)
class AddressListPage(Model):
    data: list[AddressList]
    has_more: bool
    next: Optional[str]


@dataclass(frozen=True)
class DeletedAddressList(Model):
    id: str
    deleted: bool


@dataclass(frozen=True)
class PreviewColumn(Model):
    index: int
    name: str
    evidence: str


@dataclass(frozen=True)
class DomainShare(Model):
    domain: str
    share: float


@dataclass(frozen=True)
class PreviewShares(Model):
    disposable: float
    free_provider: float
    role_account: float
    top_domains: list[DomainShare]


@dataclass(frozen=True)
class SampleShare(Model):
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class PreviewPrice(Model):
    at_most: int
    mailbox_at_most: int
    mailbox_seconds: int


@dataclass(frozen=True)
class ListPreview(Model):
    format: str
    encoding: str
    encoding_confidence: str
    delimiter: Optional[str]
    header: Optional[list[str]]
    first_rows: list[list[str]]
    column: Optional[int]
    guessed_column: Optional[int]
    columns: list[PreviewColumn]
    counts: ListCounts
    extractable: int
    shares: Optional[PreviewShares]
    bounce_rate: Optional[SampleShare]
    price: PreviewPrice


@dataclass(frozen=True)
class SampleShares(Model):
    deliverable: SampleShare
    risky: SampleShare
    undeliverable: SampleShare
    unknown: SampleShare


@dataclass(frozen=True)
class ListSample(Model):
    size: int
    created_at: str
    shares: SampleShares
    bounce_rate: SampleShare


@dataclass(frozen=True)
class ListResult(Model):
    email: str
    normalized: Optional[str]
    canonical: Optional[str]
    verdict: str
    reason: str
    reasons: list[str]
    score: Optional[int]
    evidence: str
    safe_to_send: Optional[bool]
    accept_for_signup: bool
    did_you_mean: Optional[str]
    lookalike_of: Optional[str]
    retry_after_s: Optional[int]
    local_part: Optional[str]
    tag: Optional[str]
    domain: Optional[str]
    ascii_domain: Optional[str]
    registrable_domain: Optional[str]
    checks: Checks
    syntax_error: Optional[SyntaxProblem]
    mx: Mx
    domain_auth: DomainAuth
    smtp: Optional[Smtp]
    lists: ConsultedLists
    account_list: Optional[str]


@dataclass(frozen=True)
class ListRow(Model):
    row: int
    kind: str
    duplicate_of: Optional[int]
    result: Optional[ListResult]


@dataclass(frozen=True)
class ListResults(Model):
    data: list[ListRow]
    has_more: bool
    next: Optional[int]
    state: str


@dataclass(frozen=True)
class ListPart(Model):
    number: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ListPartPage(Model):
    data: list[ListPart]
    has_more: bool


@dataclass(frozen=True)
class Domains(Model):
    allowed: list[str]
    denied: list[str]


@dataclass(frozen=True)
class EventPage(Model):
    data: list[Event]
    has_more: bool
    next: Optional[str]


@dataclass(frozen=True)
class Webhook(Model):
    id: str
    url: str
    types: Optional[list[str]]
    description: str
    state: str
    disabled_reason: Optional[str]
    public_key: str
    created_at: str


@dataclass(frozen=True)
class WebhookList(Model):
    data: list[Webhook]


@dataclass(frozen=True)
class WebhookSecret(Model):
    id: str
    url: str
    types: Optional[list[str]]
    description: str
    state: str
    disabled_reason: Optional[str]
    public_key: str
    created_at: str
    secret: str


@dataclass(frozen=True)
class DeletedWebhook(Model):
    id: str
    deleted: bool


@dataclass(frozen=True)
class SentTest(Model):
    event: str


@dataclass(frozen=True)
class Attempt(Model):
    at: str
    status: Optional[int]
    error: Optional[str]
    duration_ms: int
    response: str


@dataclass(frozen=True)
class Delivery(Model):
    id: str
    event: str
    type: str
    state: str
    next_attempt_at: Optional[str]
    attempts: list[Attempt]


@dataclass(frozen=True)
class DeliveryPage(Model):
    data: list[Delivery]
    has_more: bool
    next: Optional[str]


@dataclass(frozen=True)
class Replayed(Model):
    replayed: int


@dataclass(frozen=True)
class Credits(Model):
    balance: int
    held: int
    used_this_period: int
    plan: str
    next_grant: Optional[int]
    next_grant_at: Optional[str]
    low_balance_threshold: int


@dataclass(frozen=True)
class SourceUsage(Model):
    requests: int
    credits: int


@dataclass(frozen=True)
class UsageBySource(Model):
    api: SourceUsage
    playground: SourceUsage
    lists: SourceUsage


@dataclass(frozen=True)
class UsageDay(Model):
    date: str
    requests: int
    credits: int
    deliverable: int
    risky: int
    undeliverable: int
    unknown: int
    by_source: UsageBySource


@dataclass(frozen=True)
class Usage(Model):
    from_: str
    to: str
    days: list[UsageDay]


@dataclass(frozen=True)
class MeAccount(Model):
    id: str
    name: str


@dataclass(frozen=True)
class MeKey(Model):
    id: str
    name: str
    display: str
    scopes: Optional[list[str]]
    expires_at: Optional[str]


@dataclass(frozen=True)
class Me(Model):
    account: MeAccount
    key: MeKey
    plan: str
    rate_limit: RateLimit


@dataclass(frozen=True)
class Event(Model):
    id: str
    type: str
    timestamp: str
    account_id: str
    data: dict[str, Any]
