"""Hostile text in every column that may hold what somebody typed: people, callers, staff."""

from typing import Any

from django.apps import apps
from django.db import models

from accounts.models import Account

OURS = ("accounts", "apikeys", "credits", "validation", "account", "mfa", "usersessions")
MARKUP = "'\"><script>alert(1)</script>"
# An override of the order, a space without width, a mark from right to left.
UNSEEN = "\u202e\u200b\u200f"
HOSTILE = f"{UNSEEN}{MARKUP}{{{{7*7}}}}"

TYPED: dict[str, list[str]] = {
    "account.EmailAddress": ["email"],
    "usersessions.UserSession": ["user_agent"],
    "runtime.Lease": ["holder"],
    "runtime.Mail": ["to", "subject", "last_error"],
    "accounts.User": ["name"],
    "accounts.Account": ["name"],
    "accounts.Invitation": ["email"],
    "apikeys.ApiKey": ["name"],
    "credits.Plan": ["name"],
    "credits.Order": [
        *("description", "buyer_name", "buyer_address", "buyer_tax_id", "placed_by"),
        *("seller_name", "seller_address", "seller_tax_id", "payment_details"),
        *("provider_session", "provider_payment", "provider_invoice"),
    ],
    "credits.ProviderEvent": ["event_id", "kind"],
    "credits.StaffGrant": ["reason"],
    "credits.Subscription": ["provider_customer", "provider_subscription", "provider_plan"],
    "validation.ListedDomain": ["domain", "reason"],
    "validation.LogEntry": ["path", "address", "domain"],
}
# What only the program writes: ids, codes, digests; and the bodies of mails, which no page shows.
WRITTEN: dict[str, list[str]] = {
    # Its rows cannot be changed: one is added.
    "accounts.AuditEntry": ["actor_name", "action", "target"],
    "account.EmailConfirmation": ["key"],
    "mfa.Authenticator": ["type", "data"],
    "usersessions.UserSession": ["session_key", "data"],
    "runtime.Lease": ["name"],
    "runtime.Mail": ["text", "html"],
    "runtime.RecipientLimit": ["recipient", "sent_at"],
    "accounts.User": ["password", "email"],
    "accounts.Account": ["public_id"],
    "accounts.Membership": ["public_id", "role"],
    "accounts.Invitation": ["public_id", "role", "token"],
    "apikeys.ApiKey": [
        *("public_id", "digest", "first_four", "last_four", "allowed_networks", "form_token"),
    ],
    "apikeys.RefusalHour": ["code"],
    "credits.Plan": ["code"],
    "credits.Pack": ["public_id"],
    # Its rows cannot be changed: one is added.
    "credits.LedgerEntry": ["kind", "source", "actor", "reason"],
    "credits.Order": [
        *("public_id", "kind", "state", "method", "currency", "form_token", "provider_url"),
    ],
    "credits.ProviderCancellation": ["provider_subscription"],
    "credits.SignUpPlace": ["domain_digest"],
    "credits.StaffGrant": ["form_token", "state"],
    "credits.UseHour": ["verdict"],
    "credits.UseDay": ["verdict"],
    "validation.LostCharge": ["result_id"],
    "validation.Replay": ["key_digest", "email_digest", "address_hash", "body"],
    "validation.ListedDomain": ["kind"],
    "validation.LogEntry": [
        *("request_id", "refusal", "result_id", "address_hash", "verdict", "reason"),
    ],
}


def text_columns() -> dict[str, set[str]]:
    """Of every model there is, so that a new column has to be named in one of the two."""
    kinds = (models.CharField, models.TextField, models.JSONField)
    found: dict[str, set[str]] = {}
    for model in apps.get_models():
        if model._meta.app_label in OURS:
            names = {one.name for one in model._meta.fields if isinstance(one, kinds)}
            found |= {model._meta.label: names} if names else {}
    return found


def poison(account: Account) -> None:
    """As if no form had ever refused anything."""
    account.ledger.create(kind="grant", amount=1, source="hostile", actor=HOSTILE, reason=HOSTILE)
    account.audit_entries.create(actor_name=HOSTILE, action="account.renamed", target=HOSTILE)
    for label, names in TYPED.items():
        model = apps.get_model(label)
        changes = {name: _fitting(model, name) for name in names}
        # What has to be unique is written into one row.
        first = model._default_manager.order_by("pk").values("pk")[:1]
        model._default_manager.filter(pk__in=list(first.values_list("pk", flat=True))).update(
            **changes
        )


def _fitting(model: Any, name: str) -> str:
    longest = model._meta.get_field(name).max_length
    return HOSTILE[:longest]
