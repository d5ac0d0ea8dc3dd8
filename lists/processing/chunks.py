from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.engine import get_engine
from apikeys.errors import REFUSALS
from credits.wallet.charges import Charge
from credits.wallet.holds import HoldEnded, charge_hold
from engine import (
    AddressParts,
    Finding,
    Verdict,
    parse_address,
    sandbox_smtp,
    sandbox_word,
    without_answer,
)
from lists.event_types import record_list_event
from lists.models import AddressList, ListChunk, ResultCounts
from lists.models.result_counts import can_become_known
from lists.models.states import ListState
from lists.packing import RowKind, Rows, pack_lines, unpack_results
from lists.processing.domain_lookups import load_facts
from lists.processing.metrics import addresses_checked, chunks_checked
from runtime.database.leased_rows import Heartbeat
from validation.account_domains import matching
from validation.addresses import address_hash
from validation.models import Probe, ProbeGroup
from validation.probes import groups
from validation.probes.assessment import Assessment, choose_organization
from validation.validations import price_of_result

CREDITS_DEDUCTED = "credits_deducted"
_CREDITS_DEDUCTED_MESSAGE = (
    "The credits held for this list were used by a refund or a deduction. Resume the list to hold "
    "credits for the rest."
)


@dataclass(slots=True)
class CheckedChunk:
    """Has a chunk's results, and counts of those that changed."""

    # One per address of the chunk.
    results: list[dict[str, Any]]
    verdicts: Counter[str] = field(default_factory=Counter)
    # Earlier results that were replaced. They were unknown.
    replaced: int = 0
    # Final results by verdict, and what they cost. The sandbox is free.
    charged: Counter[str] = field(default_factory=Counter)
    costs: Counter[str] = field(default_factory=Counter)
    # Unknown results that can still become known.
    unknown: int = 0
    # Addresses without a result, which wait for a mail server.
    pending: int = 0
    asked: list[Assessment] = field(default_factory=list)
    # Those that waited until now, and the mailbox checks with their answers.
    answered: int = 0
    collected: set[int] = field(default_factory=set)
    counts: ResultCounts = field(default_factory=ResultCounts)

    def add(self, number: int, result: dict[str, Any], *, is_sandbox: bool = False) -> None:
        self._remove(number)
        self.results[number] = result
        self.counts.add(result)
        verdict = result["verdict"]
        self.verdicts[verdict] += 1
        if not is_sandbox and can_become_known(result):
            self.unknown += 1
        elif not is_sandbox:
            self.charged[verdict] += 1
            self.costs[verdict] += price_of_result(result)

    def ask(self, number: int, assessment: Assessment) -> None:
        self._remove(number)
        self.results[number] = {}
        self.asked.append(assessment)
        self.pending += 1

    def _remove(self, number: int) -> None:
        if result := self.results[number]:
            self.counts.add(result, -1)
            self.replaced += 1

    def count_changes(self) -> dict[str, int]:
        changes = {verdict.value: self.verdicts[verdict] for verdict in Verdict}
        changes[Verdict.UNKNOWN] -= self.replaced
        changes["checked"] = self.verdicts.total() - self.replaced
        changes["mailboxes"] = len(self.asked)
        changes["mailboxes_checked"] = self.answered
        return changes


def check_chunk(address_list: AddressList, chunk: ListChunk) -> None:
    """Check a claimed chunk. Later rounds check only unknown addresses."""
    with Heartbeat(chunk):
        checked = _check(address_list, chunk)
        # This precedes the transaction, for which other charges wait.
        packed = pack_lines(checked.results)
        checks = groups.build_checks(address_list.public_id, chunk.pk, checked.asked)
    try:
        is_stored = _store(address_list, chunk, checked, packed, checks)
    except HoldEnded:
        is_stored = False
        error = {"error_code": CREDITS_DEDUCTED, "error_message": _CREDITS_DEDUCTED_MESSAGE}
        with transaction.atomic():
            if address_list.change_state(ListState.PAUSED, paused_at=timezone.now(), **error):
                address_list.record(None, "list.paused")
                record_list_event(AddressList.objects.get(pk=address_list.pk))
    if not is_stored:
        chunk.release(attempts=0)
        return
    chunks_checked.inc()
    for verdict, count in checked.verdicts.items():
        addresses_checked.labels(verdict).inc(count)


def _check(address_list: AddressList, chunk: ListChunk) -> CheckedChunk:
    rows = Rows.unpack(chunk.rows)
    cells = zip(rows.cells, rows.kinds, strict=True)
    emails = [address_list.address_in(row) for row, kind in cells if kind == RowKind.ADDRESS]
    was_checked = bool(chunk.results)
    results = [*unpack_results(chunk.results)] if was_checked else [{} for _ in emails]
    numbers = [
        number
        for number, (email, result) in enumerate(zip(emails, results, strict=True))
        if not result or (can_become_known(result) and sandbox_word(email) is None)
    ]
    parsed = (parse_address(emails[number]) for number in numbers)
    domains = {parts.ascii_domain for parts in parsed if isinstance(parts, AddressParts)}
    facts = load_facts(address_list, domains)
    # A list may run for hours, so read them again.
    own_domains = matching.reload_domains_of(address_list.account)
    engine, checked = get_engine(), CheckedChunk(results)
    mailboxes = _ListMailboxes(address_list, chunk)
    for number in numbers:
        email = emails[number]
        word = sandbox_word(email)
        if word is not None:
            finding = engine.simulate(email, "check_failed" if word in REFUSALS else word)
            if address_list.checks_mailboxes:
                finding = finding._replace(smtp=sandbox_smtp(finding.reason))
            checked.add(number, finding.document(), is_sandbox=True)
            continue
        finding = own_domains.mark(engine.check_offline(email, facts))
        if not address_list.checks_mailboxes:
            checked.add(number, finding.document())
        elif was_checked and not results[number]:
            mailboxes.collect(checked, number, finding)
        else:
            mailboxes.ask(checked, number, finding)
    return checked


class _ListMailboxes:
    """Ask about the mailboxes of a chunk, and collect the answers."""

    def __init__(self, address_list: AddressList, chunk: ListChunk) -> None:
        self._group = ProbeGroup.objects.filter(list_id=address_list.public_id).first()
        self._is_over = self._group is None or self._group.ends_at <= timezone.now()
        self._answers = groups.collect(chunk.pk) if chunk.pending else {}

    def ask(self, checked: CheckedChunk, number: int, finding: Finding) -> None:
        assessment = choose_organization(finding)
        if not assessment.organization:
            checked.add(number, assessment.finding.document())
        elif self._is_over:
            checked.add(number, without_answer(finding, "smtp_timeout").document())
        else:
            checked.ask(number, assessment)

    def collect(self, checked: CheckedChunk, number: int, finding: Finding) -> None:
        address = address_hash(finding.email)
        answer = self._answers.get(address)
        if answer is None and address in self._answers and not self._is_over:
            checked.pending += 1
            return
        if answer is not None and answer.result is not None:
            result = {**answer.result, "email": finding.email}
        else:
            reason = answer.reason if answer else "smtp_timeout"
            result = without_answer(finding, reason).document()
        checked.add(number, result)
        checked.answered += 1
        if answer is not None:
            checked.collected.add(answer.pk)


@transaction.atomic
def _store(
    address_list: AddressList,
    chunk: ListChunk,
    checked: CheckedChunk,
    results: bytes,
    checks: Sequence[Probe],
) -> bool:
    """Charge and store. Return False if the list was stopped or the lease ended."""
    locked = AddressList.objects.lock(address_list)
    is_running = locked.state in {ListState.RUNNING, ListState.RECHECKING}
    is_active = locked.account.is_open and locked.account.suspended_at is None
    if not is_running or not is_active or not chunk.lock_if_held():
        return False
    changes = checked.count_changes()
    added = {name: F(name) + change for name, change in changes.items()}
    counts = checked.counts.apply_to(locked)
    AddressList.objects.filter(pk=locked.pk).update(**added, **counts)
    locked.mark_progress(newly_checked=changes.get("checked", 0))
    Probe.objects.bulk_create(checks)
    groups.mark_collected(checked.collected)
    # The wallet is locked late, for a short time.
    _charge(locked, checked)
    left = {"unknown": checked.unknown, "pending": checked.pending}
    return chunk.release(results=results, **left, is_done=True, attempts=0)


def _charge(address_list: AddressList, checked: CheckedChunk) -> None:
    if not checked.charged:
        return
    if address_list.hold is None:
        raise HoldEnded
    account, key = address_list.account, address_list.key
    charges = [
        Charge(account, key, verdict, checked.costs[verdict], None, count, for_list=True)
        for verdict, count in checked.charged.items()
    ]
    charge_hold(hold=address_list.hold, charges=charges)
