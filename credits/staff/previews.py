from dataclasses import dataclass
from hashlib import sha256

from accounts.models import Account
from credits.models import Hold, Wallet
from credits.money import format_credits


@dataclass(frozen=True)
class Change:
    label: str
    before: str
    after: str


@dataclass(frozen=True)
class ActionPreview:
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        return sha256(repr(self).encode()).hexdigest()


def describe_balance(account: Account) -> str:
    wallet = Wallet.objects.get(account=account)
    held = f", {wallet.held:,} are held" if wallet.held else ""
    debt = f", the debt {wallet.debt:,}" if wallet.debt else ""
    return f"The balance is {wallet.balance:,}{held}{debt}."


def preview_wallet(wallet: Wallet, balance: int, held: int, debt: int) -> tuple[Change, ...]:
    changes = [Change("Balance", f"{wallet.balance:,}", f"{balance:,}")]
    if held != wallet.held:
        changes.append(Change("Held", f"{wallet.held:,}", f"{held:,}"))
    if debt != wallet.debt:
        changes.append(Change("Debt", f"{wallet.debt:,}", f"{debt:,}"))
    return tuple(changes)


def preview_deduction(account: Account, amount: int) -> ActionPreview:
    wallet = Wallet.objects.get(account=account)
    # Like `Hold.objects.cancel_newest`: whole holds, the newest first.
    freed, holds = 0, Hold.objects.open().filter(account=account, remaining__gt=0)
    for remaining in holds.order_by("-pk").values_list("remaining", flat=True):
        if freed >= amount - wallet.balance:
            break
        freed += remaining
    left = wallet.balance + freed - amount
    changes = preview_wallet(wallet, max(0, left), wallet.held - freed, wallet.debt + max(0, -left))
    notes = []
    if freed:
        notes.append(f"Lists in progress stop: {freed:,} held credits are released.")
    if left < 0:
        notes.append(f"{-left:,} of {format_credits(amount)} are spent and become a debt.")
    return ActionPreview(changes, tuple(notes))
