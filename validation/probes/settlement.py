"""Begin, postpone and finish mailbox checks. The credits they may cost are held meanwhile."""

from datetime import datetime

import orjson
from django.db import transaction
from django.utils import timezone

from accounts.events import record_event
from accounts.models import Account
from credits.models import Wallet
from credits.wallet.charges import record_usage
from credits.wallet.holds import HoldEnded, charge_hold, hold_credits, release_hold
from engine import Finding, without_answer
from runtime.encryption import encrypt
from validation.account_domains import matching
from validation.addresses import address_hash
from validation.charging.settlement import (
    MAILBOX_PRICE,
    Validation,
    ValidationResponse,
    count_validations,
    digest_of_request,
)
from validation.event_types import CHECK_COMPLETED
from validation.models import Check, LogEntry, MailHostPace, Probe, Replay, StoredResult
from validation.probes.assessment import MAX_DURATION, Assessment
from validation.request_log import writer
from validation.request_log.writer import Caller
from validation.results import stored_results


@transaction.atomic
def start_probe(validation: Validation, assessment: Assessment) -> Probe:
    """Hold the credits and queue the question.

    Raise ReplayExists if another request with the Idempotency-Key was first.
    """
    caller, parts = validation.caller, validation.finding.parts
    account = caller.account
    hold = hold_credits(
        account=account,
        amount=MAILBOX_PRICE,
        source=f"mailbox check {validation.id}",
        reason=f"Mailbox check {validation.id}",
        key=caller.key,
    )
    writer.bulk_insert_for([validation]).run()
    stored_results.insert_pending(validation).run()
    MailHostPace.objects.ensure(assessment.organization, assessment.egress)
    probe = Probe.objects.create(
        result_id=validation.id,
        account=account,
        key=caller.key,
        hold=hold,
        request_id=caller.request_id,
        email=encrypt(validation.email),
        address_hash=address_hash(validation.email),
        domain=parts.ascii_domain if parts else "",
        organization=assessment.organization,
        egress=assessment.egress,
        created_at=validation.created_at,
        ends_at=validation.created_at + MAX_DURATION,
    )
    if validation.idempotency_key is not None:
        Replay.of_request(
            account,
            validation.idempotency_key,
            digest_of_request(validation.email, Check.MAILBOX),
            result_id=validation.id,
            address_hashes=probe.address_hash,
            balance=_balance(account),
        ).store()
    return probe


def read_response(probe: Probe) -> ValidationResponse:
    """Return the result to the call that waited for it. If it's pending, its end is an event."""
    is_pending = Probe.objects.waiting().filter(pk=probe.pk).update(is_announced=True)
    row = StoredResult.objects.get(pk=probe.result_id)
    replay = Replay.objects.filter(account=probe.account, result_id=probe.result_id).first()
    balance = _balance(probe.account) if replay is None else replay.balance or 0
    body = stored_results.with_balance(stored_results.unpack_bytes(row.packed) or b"{{}}", balance)
    document = orjson.loads(body)
    if not is_pending and replay is None and not stored_results.stores_results(probe.account):
        row.delete()
    return ValidationResponse(body, document["credits"]["charged"], balance, document["verdict"])


@transaction.atomic
def postpone(*, probe: Probe, finding: Finding, until: datetime) -> None:
    """Ask again later. `finding` is what is known now."""
    waiting = Probe.objects.waiting().select_for_update().filter(pk=probe.pk)
    if not waiting.exists():
        return
    reason = finding.reason
    waiting.update(tries=probe.tries + 1, next_attempt_at=until, reason=reason)
    smtp = {**(finding.smtp or {}), "state": "pending"}
    _store(_validation(probe, finding._replace(smtp=smtp), held=MAILBOX_PRICE))


@transaction.atomic
def finish(*, probe: Probe, finding: Finding) -> bool:
    """Charge what the result costs, and release the rest. Return False if another did."""
    waiting = Probe.objects.waiting().select_for_update(of=("self",)).filter(pk=probe.pk)
    current = waiting.select_related("account", "key", "hold").first()
    if current is None:
        return False
    validation = _validation(current, finding)
    try:
        with transaction.atomic():
            if current.hold is None:
                raise HoldEnded
            charge_hold(hold=current.hold, charges=validation.charges)
            release_hold(hold=current.hold)
    except HoldEnded:
        # A deduction or refund took the credits, or the account was closed.
        failed = without_answer(finding, "check_failed", current.tries)
        validation = _validation(current, failed)
        record_usage(validation.charges)
    _store(validation)
    _update_log(validation)
    replays = Replay.objects.filter(account=current.account, result_id=current.result_id)
    if validation.is_replayable:
        replays.update(created_at=timezone.now(), balance=_balance(current.account))
    else:
        replays.delete()
    current.done_at, current.next_attempt_at = timezone.now(), None
    current.email, current.reason = "", validation.finding.reason
    current.save(update_fields=["done_at", "next_attempt_at", "email", "reason"])
    if current.is_announced:
        facts = {"verdict": validation.finding.verdict, "reason": validation.finding.reason}
        data = {"id": current.result_id, **facts, "credits": validation.cost}
        record_event(current.account, CHECK_COMPLETED, data)
    source = "api" if current.key_id else "playground"
    transaction.on_commit(lambda: count_validations(validation.finding.reason, source))
    return True


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


def _store(validation: Validation) -> None:
    """Replace the pending result. It can be read for as long as one that was made now."""
    packed = stored_results.pack(stored_results.render(validation))
    stored = StoredResult.objects.filter(pk=validation.id)
    stored.update(packed=packed, at=timezone.now())


def _update_log(validation: Validation) -> None:
    row = writer.describe_validation(validation)
    changed = ("verdict", "reason", "score", "checks", "cost", "duration_ms")
    entries = LogEntry.objects.with_result(validation.id).filter(account=validation.caller.account)
    entries.filter(replayed=False).update(**{name: row[name] for name in changed})


def _balance(account: Account) -> int:
    """Return the balance. The transaction has locked the wallet."""
    return Wallet.objects.values_list("balance", flat=True).get(account=account)
