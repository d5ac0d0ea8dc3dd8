"""Begin, postpone and finish mailbox checks. The credits they may cost are held meanwhile."""

from dataclasses import replace
from datetime import datetime, timedelta

import orjson
from django.db import transaction
from django.utils import timezone

from accounts.events import record_event
from accounts.models import Account
from credits.models import Wallet
from credits.wallet.charges import Charge, record_usage
from credits.wallet.holds import HoldEnded, charge_hold, hold_credits, release_hold
from engine import Finding, as_failed
from runtime.database.raw_sql import atomic
from runtime.encryption import encrypt
from validation.account_domains import matching
from validation.addresses import address_hash
from validation.charging.settlement import count_validations, digest_of_request
from validation.event_types import CHECK_COMPLETED
from validation.models import Check, LogEntry, MailHostPace, Probe, Replay, StoredResult
from validation.models.stored_results import StoredResultQuerySet
from validation.probes.assessment import MAX_DURATION, Assessment
from validation.request_log import writer
from validation.results import stored_results
from validation.results.pending import announce, has_pending
from validation.validations import MAILBOX_PRICE, Caller, Validation, ValidationResponse


@atomic()
def start_probe(
    validation: Validation,
    assessment: Assessment,
    *,
    lifetime: timedelta = MAX_DURATION,
    batch_id: str = "",
) -> tuple[Probe, ValidationResponse]:
    """Hold the credits and queue the question. Return the pending response.

    Raise ReplayExists if another request with the Idempotency-Key was first, and OutcomeUnknown if
    the check may have begun.
    """
    caller, account = validation.caller, validation.caller.account
    hold = hold_credits(
        account=account,
        amount=MAILBOX_PRICE,
        source=f"mailbox check {validation.id}",
        reason=f"Mailbox check {validation.id}",
        key=caller.key,
    )
    path = writer.BATCH_PATH if batch_id else writer.PATH
    writer.bulk_insert_for([validation], path=path, batch_id=batch_id).run()
    stored_results.insert_pending(validation).run()
    MailHostPace.objects.ensure([(assessment.organization, assessment.egress)])
    probe = Probe.objects.create(
        result_id=validation.id,
        account=account,
        key=caller.key,
        hold=hold,
        request_id=caller.request_id,
        batch_id=batch_id,
        email=encrypt(validation.email),
        address_hash=address_hash(validation.email),
        domain=validation.finding.parts.ascii_domain if validation.finding.parts else "",
        organization=assessment.organization,
        egress=assessment.egress,
        created_at=validation.created_at,
        ends_at=validation.created_at + lifetime,
    )
    balance = _balance(account)
    if validation.idempotency_key is not None:
        Replay.of_request(
            account,
            validation.idempotency_key,
            digest_of_request(validation.email, Check.MAILBOX),
            result_id=validation.id,
            address_hashes=probe.address_hash,
            balance=balance,
        ).store()
    return probe, validation.build_response(balance)


def read_response(probe: Probe) -> ValidationResponse | None:
    """Return the result to the call that waited for it, or None if it was erased meanwhile."""
    body = _read_body(probe)
    if body and has_pending(body) and not announce(probe.result_id):
        # It was finished since.
        body = _read_body(probe)
    if body is None:
        return None
    if not stored_results.stores_results(probe.account) and _find_replay(probe) is None:
        _stored_result(probe).delete()
    document = orjson.loads(body)
    credits = document["credits"]
    return ValidationResponse(body, credits["charged"], credits["remaining"], document["verdict"])


def _read_body(probe: Probe) -> bytes | None:
    row, replay = _stored_result(probe).first(), _find_replay(probe)
    result = row and stored_results.unpack_bytes(row.packed)
    # A replay repeats the balance.
    balance = replay.balance if replay else None
    if balance is None:
        balance = _balance(probe.account)
    return stored_results.with_balance(result, balance) if result else None


def _find_replay(probe: Probe) -> Replay | None:
    return Replay.objects.filter(account=probe.account, result_id=probe.result_id).first()


def _stored_result(probe: Probe) -> StoredResultQuerySet:
    return StoredResult.objects.made_since(probe.created_at).filter(pk=probe.result_id)


@transaction.atomic
def postpone(*, probe: Probe, finding: Finding, until: datetime) -> None:
    """Ask again later. `finding` is what is known now."""
    waiting = Probe.objects.waiting().select_for_update().filter(pk=probe.pk)
    if not waiting.exists():
        return
    reason = finding.reason
    waiting.update(tries=probe.tries + 1, next_attempt_at=until, reason=reason)
    if probe.group_id is not None:
        return
    smtp = {**(finding.smtp or {}), "state": "pending"}
    validation = _validation(probe, finding._replace(smtp=smtp), held=MAILBOX_PRICE)
    _stored_result(probe).update(packed=_pack(validation))


@transaction.atomic
def finish(*, probe: Probe, finding: Finding) -> bool:
    """Charge what the result costs, and release the rest. Return False if another did."""
    waiting = Probe.objects.waiting().select_for_update(of=("self",)).filter(pk=probe.pk)
    current = waiting.select_related("account", "key", "hold").first()
    if current is None:
        return False
    account, now = current.account, timezone.now()
    validation = _validation(current, finding)
    try:
        _charge(current, validation)
    except HoldEnded:
        validation = _validation(current, as_failed(finding, current.tries))
        record_usage(_charges(validation))
    if current.hold is not None:
        release_hold(hold=current.hold)
    # It can be read, and replayed, for as long as a result that was made now.
    _stored_result(current).update(packed=_pack(validation), at=now)
    _update_log(validation)
    replays = Replay.objects.filter(account=account, result_id=current.result_id)
    if validation.is_replayable:
        replays.update(created_at=now, balance=_balance(account))
    else:
        replays.delete()
    current.done_at, current.next_attempt_at = now, None
    current.email, current.reason = "", validation.finding.reason
    current.save(update_fields=["done_at", "next_attempt_at", "email", "reason"])
    if current.is_announced:
        facts = {"verdict": validation.finding.verdict, "reason": validation.finding.reason}
        data = {"id": current.result_id, **facts, "credits": validation.cost}
        record_event(account, CHECK_COMPLETED, data)
    source = "api" if current.key_id else "playground"
    transaction.on_commit(lambda: count_validations(validation.finding.reason, source))
    return True


@transaction.atomic
def _charge(probe: Probe, validation: Validation) -> None:
    """Raise HoldEnded if a deduction or refund took the credits, or nobody can read the result."""
    account = probe.account
    # Results that a response called pending have to be read later.
    is_unreadable = probe.is_announced and not stored_results.stores_results(account)
    if probe.hold is None or not account.is_open or is_unreadable:
        raise HoldEnded
    charge_hold(hold=probe.hold, charges=_charges(validation))


def _charges(validation: Validation) -> list[Charge]:
    # Without a duration: how long a mail server takes says nothing about our latency.
    return [replace(charge, duration_ms=None) for charge in validation.charges]


def _validation(probe: Probe, finding: Finding, *, held: int = 0) -> Validation:
    account = probe.account
    waited = timezone.now() - probe.created_at
    return Validation(
        Caller(account, probe.key, probe.request_id),
        finding.email,
        matching.mark(finding, account),
        is_sandbox=False,
        duration_ms=round(waited.total_seconds() * 1000),
        check=Check.MAILBOX,
        held=held,
        id=probe.result_id,
        created_at=probe.created_at,
    )


def _pack(validation: Validation) -> str:
    return stored_results.pack(stored_results.render(validation))


def _update_log(validation: Validation) -> None:
    row = writer.describe_validation(validation)
    changed = ("verdict", "reason", "score", "checks", "cost", "duration_ms")
    entries = LogEntry.objects.with_result(validation.id).filter(account=validation.caller.account)
    entries.filter(replayed=False).update(**{name: row[name] for name in changed})


def _balance(account: Account) -> int:
    """Return the balance. The transaction has locked the wallet."""
    return Wallet.objects.values_list("balance", flat=True).get(account=account)
