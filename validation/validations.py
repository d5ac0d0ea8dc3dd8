"""A finding on its way to a caller: charging, the request log and stored results share it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.functional import cached_property

from accounts.models import Account
from apikeys.models import ApiKey
from credits.wallet.charges import Charge
from engine import Finding, Verdict
from runtime.json_text import render_json
from validation.ids import new_result_id
from validation.models import Check

PRICE, MAILBOX_PRICE = 1, 2


@dataclass(frozen=True)
class Caller:
    account: Account
    key: ApiKey | None
    request_id: str


@dataclass(frozen=True, slots=True)
class ValidationResponse:
    body: bytes
    cost: int
    balance: int
    verdict: str = ""
    replayed: bool = False


@dataclass(eq=False)
class Validation:
    caller: Caller
    email: str
    finding: Finding
    is_sandbox: bool
    duration_ms: int
    idempotency_key: str | None = None
    check: Check = Check.DNS
    # While a mail server is asked.
    held: int = 0
    id: str = field(default_factory=new_result_id)
    created_at: datetime = field(default_factory=timezone.now)
    # Whether the connection was lost during its COMMIT.
    is_in_doubt: bool = False

    @cached_property
    def cost(self) -> int:
        if self.is_sandbox or not self.finding.is_definite:
            return 0
        return MAILBOX_PRICE if self.finding.has_mailbox_answer else PRICE

    @property
    def is_replayable(self) -> bool:
        return self.finding.is_definite or self.is_sandbox

    @property
    def can_be_grouped(self) -> bool:
        return not self.is_sandbox and self.idempotency_key is None

    @property
    def charges(self) -> list[Charge]:
        if self.is_sandbox:
            return []
        caller, verdict = self.caller, self.finding.verdict
        return [Charge(caller.account, caller.key, verdict, self.cost, self.duration_ms)]

    @cached_property
    def json(self) -> bytes:
        document = {
            "id": self.id,
            "created_at": self.created_at,
            "sandbox": self.is_sandbox,
            **self.finding.document(),
            "duration_ms": self.duration_ms,
            "dns_cached": self.finding.dns_cached,
        }
        return render_json(document).removesuffix(b"}")

    def build_response(self, balance: int) -> ValidationResponse:
        credits = b'{"charged":%d,"held":%d,"remaining":%d}' % (self.cost, self.held, balance)
        body = b'%b,"credits":%b}' % (self.json, credits)
        return ValidationResponse(body, self.cost, balance, self.finding.verdict)


def price_of_result(result: Mapping[str, Any]) -> int:
    if result["verdict"] == Verdict.UNKNOWN:
        return 0
    is_answered = bool(result.get("smtp")) and result["checks"]["mailbox_exists"] is not None
    return MAILBOX_PRICE if is_answered else PRICE
