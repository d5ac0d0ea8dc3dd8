from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.engine import get_engine
from apikeys.errors import REFUSALS
from credits.wallet.charges import Charge
from credits.wallet.holds import HoldEnded, charge_hold
from engine import AddressParts, Finding, Verdict, parse_address, sandbox_word
from lists.event_types import record_list_event
from lists.models import AddressList, ListChunk, ResultCounts
from lists.models.states import ListState
from lists.packing import RowKind, Rows, pack_results, unpack_results
from lists.processing.domain_lookups import load_facts
from lists.processing.metrics import addresses_checked, chunks_checked
from runtime.database.heartbeat import Heartbeat
from validation.account_domains import matching
from validation.charging.settlement import PRICE

CREDITS_DEDUCTED = "credits_deducted"
_CREDITS_DEDUCTED_MESSAGE = (
    "The credits held for this list were used by a refund or a deduction. Resume the list to hold "
    "credits for the rest."
)


@dataclass(slots=True)
class CheckedChunk:
    """Has a chunk's results, and counts of the addresses that were checked now."""

    # One per address of the chunk.
    results: list[dict[str, Any]]
    is_recheck: bool
    verdicts: Counter[str] = field(default_factory=Counter)
    # Definite results. The sandbox is free.
    charged: Counter[str] = field(default_factory=Counter)
    # Unknown results that can still become known.
    unknown: int = 0
    counts: ResultCounts = field(default_factory=ResultCounts)

    def add(self, number: int, finding: Finding, *, is_sandbox: bool) -> None:
        verdict = finding.verdict
        if self.is_recheck:
            self.counts.add(self.results[number], -1)
        self.results[number] = finding.document()
        self.counts.add(self.results[number])
        self.verdicts[verdict] += 1
        if verdict != Verdict.UNKNOWN:
            self.charged[verdict] += not is_sandbox
        elif not is_sandbox:
            self.unknown += 1

    def count_changes(self) -> dict[str, int]:
        total = self.verdicts.total()
        changes = {verdict.value: self.verdicts[verdict] for verdict in Verdict}
        if self.is_recheck:
            changes[Verdict.UNKNOWN] -= total
        else:
            changes["checked"] = total
        return changes


def check_chunk(address_list: AddressList, chunk: ListChunk) -> None:
    """Check a claimed chunk. Later rounds check only unknown addresses."""
    with Heartbeat(chunk):
        checked = _check(address_list, chunk)
        # This precedes the transaction, for which other charges wait.
        packed = pack_results(checked.results)
    try:
        is_stored = _store(address_list, chunk, checked, packed)
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
    is_recheck = bool(chunk.results)
    results = [*unpack_results(chunk.results)] if is_recheck else [{} for _ in emails]
    numbers = [
        number
        for number, (email, result) in enumerate(zip(emails, results, strict=True))
        if not result or (result["verdict"] == Verdict.UNKNOWN and sandbox_word(email) is None)
    ]
    parsed = (parse_address(emails[number]) for number in numbers)
    domains = {parts.ascii_domain for parts in parsed if isinstance(parts, AddressParts)}
    facts = load_facts(address_list, domains)
    # A list may run for hours, so read them again.
    own_domains = matching.reload_domains_of(address_list.account)
    engine, checked = get_engine(), CheckedChunk(results, is_recheck)
    for number in numbers:
        email = emails[number]
        word = sandbox_word(email)
        if word is None:
            finding = own_domains.mark(engine.check_offline(email, facts))
        else:
            finding = engine.simulate(email, "check_failed" if word in REFUSALS else word)
        checked.add(number, finding, is_sandbox=word is not None)
    return checked


@transaction.atomic
def _store(
    address_list: AddressList, chunk: ListChunk, checked: CheckedChunk, results: bytes
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
    # The wallet is locked late, for a short time.
    _charge(locked, checked.charged)
    return chunk.release(results=results, unknown=checked.unknown, is_done=True, attempts=0)


def _charge(address_list: AddressList, charged: Counter[str]) -> None:
    if not charged.total():
        return
    if address_list.hold is None:
        raise HoldEnded
    account, key = address_list.account, address_list.key
    charges = [
        Charge(account, key, verdict, count * PRICE, None, validations=count, for_list=True)
        for verdict, count in charged.items()
        if count
    ]
    charge_hold(hold=address_list.hold, charges=charges)
