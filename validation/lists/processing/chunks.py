"""Check the addresses of a chunk, and store and charge its results in one transaction."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.engine import get_engine
from apikeys.errors import REFUSALS
from credits.wallet.charges import Charge
from credits.wallet.holds import HoldEnded, charge_hold
from runtime.database.heartbeat import Heartbeat
from validation.charging.settlement import PRICE
from validation.domain_data import account_domains
from validation.engine.sandbox import sandbox_finding, sandbox_word
from validation.engine.syntax.parsing import AddressParts, parse_address
from validation.engine.verdicts.finding import Finding
from validation.engine.verdicts.reasons import Verdict
from validation.lists.payloads import RowKind, Rows, pack_results, unpack_results
from validation.lists.processing.domains import load_facts
from validation.lists.processing.metrics import addresses_checked, chunks_checked
from validation.lists.recording import record
from validation.lists.transitions import change_state
from validation.models import AddressList, ListChunk
from validation.models.list_states import State

CREDITS_DEDUCTED = "credits_deducted"
_CREDITS_DEDUCTED_MESSAGE = (
    "The credits held for this list were used by a refund or a deduction. Resume the list to hold "
    "credits for the rest."
)


@dataclass(slots=True)
class CheckedChunk:
    """Counts the addresses that were checked now: all, or only those that were unknown."""

    # One per address of the chunk, in order.
    results: list[dict[str, Any]]
    is_recheck: bool
    verdicts: Counter[str] = field(default_factory=Counter)
    # Definite results. Those of the sandbox are free.
    charged: Counter[str] = field(default_factory=Counter)
    # Unknown results that can still become known.
    unknown: int = 0

    def add(self, number: int, finding: Finding, *, is_sandbox: bool) -> None:
        verdict = finding.verdict
        self.results[number] = finding.document()
        self.verdicts[verdict] += 1
        if verdict != Verdict.UNKNOWN:
            self.charged[verdict] += not is_sandbox
        elif not is_sandbox:
            self.unknown += 1

    def count_changes(self) -> dict[str, int]:
        """Return by how much the counts of the list change."""
        total = self.verdicts.total()
        changes = {verdict.value: self.verdicts[verdict] for verdict in Verdict}
        if self.is_recheck:
            changes[Verdict.UNKNOWN] -= total
        else:
            changes["checked"] = total
        return changes


def check_chunk(address_list: AddressList, chunk: ListChunk) -> None:
    """Check a claimed chunk, when lists are checked again only its unknown addresses."""
    with Heartbeat(chunk):
        checked = _check(address_list, chunk)
        # Before the transaction, which makes the account's other charges wait.
        packed = pack_results(checked.results)
    try:
        is_stored = _store(address_list, chunk, checked, packed)
    except HoldEnded:
        is_stored = False
        _pause_without_credits(address_list)
    if not is_stored:
        # The list was paused or has ended. A resumed list starts with this chunk.
        chunk.release(attempts=0)
        return
    chunks_checked.inc()
    for verdict, count in checked.verdicts.items():
        addresses_checked.labels(verdict).inc(count)


def _check(address_list: AddressList, chunk: ListChunk) -> CheckedChunk:
    emails = read_addresses(Rows.unpack(bytes(chunk.rows)), address_list.column or 0)
    is_recheck = bool(chunk.results)
    results = unpack_results(bytes(chunk.results)) if is_recheck else [{} for _ in emails]
    numbers = [
        number
        for number, (email, result) in enumerate(zip(emails, results, strict=True))
        if not result or (result["verdict"] == Verdict.UNKNOWN and sandbox_word(email) is None)
    ]
    facts = load_facts(address_list, _find_domains(emails[number] for number in numbers))
    # As of now: a list may run for hours.
    domains = account_domains.reload_domains_of(address_list.account)
    engine, checked = get_engine(), CheckedChunk(results, is_recheck)
    for number in numbers:
        email = emails[number]
        finding, word = engine.check_with_facts(email, facts), sandbox_word(email)
        if word is None:
            finding = domains.mark(finding)
        else:
            # An error fails this address, not the whole list.
            finding = sandbox_finding(finding, "check_failed" if word in REFUSALS else word)
        checked.add(number, finding, is_sandbox=word is not None)
    return checked


def read_addresses(rows: Rows, column: int) -> list[str]:
    """Return the texts of the rows that are addresses to check."""
    return [
        cells[column].strip()
        for cells, kind in zip(rows.cells, rows.kinds, strict=True)
        if kind == RowKind.ADDRESS
    ]


def _find_domains(emails: Iterable[str]) -> set[str]:
    parsed = map(parse_address, emails)
    return {parts.ascii_domain for parts in parsed if isinstance(parts, AddressParts)}


@transaction.atomic
def _store(
    address_list: AddressList, chunk: ListChunk, checked: CheckedChunk, results: bytes
) -> bool:
    """Charge and store the results. Return False if the list doesn't run or the lease has ended."""
    locked = AddressList.objects.lock(address_list)
    if not _is_active(locked) or not chunk.lock_if_held():
        return False
    changes = {name: F(name) + change for name, change in checked.count_changes().items()}
    AddressList.objects.filter(pk=locked.pk).update(**changes)
    # Late, because it locks the wallet.
    _charge(locked, checked.charged)
    return chunk.release(results=results, unknown=checked.unknown, is_done=True, attempts=0)


def _is_active(address_list: AddressList) -> bool:
    account = address_list.account
    is_running = address_list.state in {State.RUNNING, State.RECHECKING}
    return is_running and account.is_open and account.suspended_at is None


def _charge(address_list: AddressList, charged: Counter[str]) -> None:
    if not charged.total():
        return
    if address_list.hold is None:
        raise HoldEnded
    account, key = address_list.account, address_list.key
    charges = [
        Charge(account, key, verdict, count * PRICE, None, validations=count)
        for verdict, count in charged.items()
        if count
    ]
    charge_hold(hold=address_list.hold, charges=charges)


@transaction.atomic
def _pause_without_credits(address_list: AddressList) -> None:
    error = {"error_code": CREDITS_DEDUCTED, "error_message": _CREDITS_DEDUCTED_MESSAGE}
    if change_state(address_list, State.PAUSED, paused_at=timezone.now(), **error):
        record(address_list, None, "list.paused")
