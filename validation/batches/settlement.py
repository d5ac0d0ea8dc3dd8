from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import accumulate
from uuid import UUID

import orjson
from django.utils import timezone
from django.utils.functional import cached_property

from credits.wallet.charges import Charge
from engine import Verdict
from runtime.database.raw_sql import BulkInsert, OutcomeUnknown
from runtime.json_text import render_json
from runtime.tracing import traced
from validation.addresses import address_hash
from validation.charging import lost_charges
from validation.charging.settlement import charge_and_store
from validation.ids import new_batch_id
from validation.models import Check, Replay
from validation.models.replays import digest
from validation.request_log import writer
from validation.results import stored_results
from validation.validations import Caller, Validation, ValidationResponse


@dataclass(eq=False)
class Batch:
    caller: Caller
    emails: Sequence[str]
    validations: list[Validation]
    duration_ms: int
    idempotency_key: str | None = None
    check: Check = Check.DNS
    id: str = field(default_factory=new_batch_id)
    created_at: datetime = field(default_factory=timezone.now)

    @cached_property
    def cost(self) -> int:
        return sum(validation.cost for validation in self.validations)

    @property
    def _settled(self) -> list[Validation]:
        """Leave out those that wait for a mail server: validation.probes charges and logs them."""
        return [validation for validation in self.validations if not validation.held]

    @property
    def charges(self) -> list[Charge]:
        costs: dict[Verdict, list[int]] = {}
        for validation in self._settled:
            if not validation.is_sandbox:
                costs.setdefault(validation.finding.verdict, []).append(validation.cost)
        caller, duration_ms = self.caller, self.validations[0].duration_ms
        return [
            Charge(caller.account, caller.key, verdict, sum(each), duration_ms, len(each))
            for verdict, each in costs.items()
        ]

    def inserts(self) -> list[BulkInsert]:
        for validation in self.validations:
            _ = validation.json
        path, batch_id, settled = writer.BATCH_PATH, self.id, self._settled
        log = writer.bulk_insert_for(settled, path=path, batch_id=batch_id)
        if self.idempotency_key is not None:
            return [log]
        account = self.caller.account
        return [log, *stored_results.inserts_for_batch(account, batch_id, settled)]

    def render(self, final_balance: int) -> bytes:
        verdicts = Counter(validation.finding.verdict for validation in self.validations)
        results = b",".join(self._render_results(final_balance))
        document = {
            "id": self.id,
            "created_at": self.created_at,
            "results": orjson.Fragment(b"[%b]" % results),
            # Of distinct addresses, so the sum with the duplicates is the batch's size.
            "summary": {
                **{verdict.value: verdicts[verdict] for verdict in Verdict},
                "duplicates": len(self.emails) - len(self.validations),
            },
            "duration_ms": self.duration_ms,
            "credits": {
                "charged": self.cost,
                "held": sum(validation.held for validation in self.validations),
                "remaining": final_balance,
            },
        }
        return render_json(document)

    def _render_results(self, final_balance: int) -> Iterator[bytes]:
        """Give each result its balance, as if charged one after the other."""
        charged = accumulate(validation.cost for validation in self.validations)
        results = {
            validation.email: (validation, final_balance + self.cost - so_far)
            for validation, so_far in zip(self.validations, charged, strict=True)
        }
        credits = b'{"charged":%d,"held":%d,"remaining":%d}'
        template = b'%b,"credits":%b,"duplicate_of":%b}'
        first: dict[str, int] = {}
        for index, email in enumerate(self.emails):
            validation, balance = results[email]
            original = first.setdefault(email, index)
            if original == index:
                yield template % (
                    validation.json,
                    credits % (validation.cost, validation.held, balance),
                    b"null",
                )
            else:
                yield template % (
                    validation.json,
                    credits % (0, 0, final_balance),
                    b"%d" % original,
                )


@traced("charge", lambda response: {"emailvalidation.credits": response.cost})
def charge_and_record_batch(batch: Batch) -> ValidationResponse:
    """Commit the charge and all rows.

    Raise InsufficientCredits, KeyCreditLimitReached or ReplayExists if nothing was charged, and
    OutcomeUnknown if the account may have been charged.
    """
    account, key = batch.caller.account, batch.idempotency_key
    # This precedes the transaction, which holds a lock.
    inserts = batch.inserts()
    charge = partial(charge_and_store, batch.caller, batch.charges, inserts)
    try:
        if key is None:
            balance = charge()
        else:
            replay = Replay.of_request(
                account,
                key,
                digest_of(batch.emails, batch.check),
                result_id=batch.id,
                address_hashes=" ".join(dict.fromkeys(map(address_hash, batch.emails))),
                is_free=batch.cost == 0,
            )
            balance = charge(replay, batch.render)
    except OutcomeUnknown:
        # With an Idempotency-Key, a retry gets the stored response.
        for validation in batch.validations:
            if key is None and validation.cost:
                lost_charges.record_lost_charge(account, validation.id, validation.cost)
        raise
    return ValidationResponse(batch.render(balance), batch.cost, balance)


def digest_of(emails: Sequence[str], check: Check = Check.DNS) -> UUID:
    kind = "batch of mailboxes" if check == Check.MAILBOX else "batch"
    return digest(kind, orjson.dumps(emails).decode())
