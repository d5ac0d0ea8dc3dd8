"""Hostile text for every column that can hold input from users, API callers or staff."""

from typing import Any

from django.apps import apps
from django.db import models

from accounts.models import Account

APP_LABELS = (
    *("runtime", "accounts", "apikeys", "credits", "validation", "lists"),
    "reference",
    *("account", "mfa", "socialaccount", "usersessions"),
)
MARKUP = "'\"><script>alert(1)</script>"
# Right-to-left override, zero-width space, right-to-left mark.
INVISIBLE = "\u202e\u200b\u200f"
HOSTILE = f"{INVISIBLE}{MARKUP}{{{{7*7}}}}"

USER_TEXT: dict[str, list[str]] = {
    "account.EmailAddress": ["email"],
    "socialaccount.SocialAccount": ["uid"],
    "usersessions.UserSession": ["user_agent"],
    "runtime.Lease": ["holder"],
    "runtime.Mail": ["to", "subject", "last_error"],
    "accounts.User": ["name"],
    "accounts.Account": ["name"],
    "accounts.Invitation": ["email"],
    "accounts.WebhookEndpoint": ["url", "description"],
    "accounts.DeliveryAttempt": ["response"],
    "apikeys.ApiKey": ["name"],
    "credits.AutomaticOrder": ["failure", "provider_card", "provider_intent"],
    "credits.Hold": ["reason"],
    "credits.Plan": ["name"],
    "credits.Order": [
        *("description", "buyer_name", "buyer_address", "buyer_tax_id", "buyer_country"),
        *("placed_by", "tax_reason"),
        *("seller_name", "seller_address", "seller_tax_id", "payment_details"),
        *("provider_session", "provider_payment", "provider_invoice"),
    ],
    "credits.ProviderEvent": ["event_id", "kind"],
    "credits.SavedCard": ["provider_card", "provider_customer", "brand", "last_four"],
    "credits.StaffGrant": ["reason"],
    "credits.Subscription": ["provider_customer", "provider_subscription", "provider_plan"],
    "lists.AddressList": ["name", "created_by", "error_message"],
    "validation.Feedback": ["domain", "sent_by", "answer"],
    "lists.ListDomain": ["domain"],
    "reference.Incident": ["title"],
    "reference.IncidentUpdate": ["text"],
    "validation.ListedDomain": ["domain", "reason"],
    "validation.LogEntry": ["path", "address", "domain"],
    # The last reply of a mail server. Staff write the notes.
    "validation.MailHostPace": ["last_reply"],
    "validation.UnprobedDomain": ["domain", "note"],
}
# Columns that only the program writes: ids, codes, digests, and email bodies (never displayed).
SYSTEM_TEXT: dict[str, list[str]] = {
    # These rows can't be updated: `fill_with_hostile_text` adds one.
    "accounts.AuditEntry": ["actor_name", "action", "target"],
    "account.EmailConfirmation": ["key"],
    "mfa.Authenticator": ["type", "data"],
    # The label in `extra_data` is a user's name or address at the provider.
    "socialaccount.SocialAccount": ["provider", "extra_data"],
    "socialaccount.SocialApp": [
        *("provider", "provider_id", "name", "client_id", "secret", "key", "settings")
    ],
    "socialaccount.SocialToken": ["token", "token_secret"],
    "usersessions.UserSession": ["session_key", "data"],
    "runtime.Lease": ["name"],
    "runtime.Mail": ["text", "html", "attachment"],
    "runtime.RecipientLimit": ["recipient", "sent_at"],
    "accounts.User": ["password", "email", "theme", "time_zone", "date_format"],
    "accounts.Account": ["public_id"],
    "accounts.Membership": ["public_id", "role"],
    "accounts.Invitation": ["public_id", "role", "token"],
    "accounts.Event": ["public_id", "type", "body", "once"],
    "accounts.MutedEmail": ["type"],
    "accounts.WebhookEndpoint": [
        *("public_id", "types", "form_token", "disabled_reason"),
        *("secret", "private_key", "old_secret", "old_private_key"),
    ],
    "accounts.Delivery": ["public_id", "state"],
    "accounts.DeliveryAttempt": ["signature", "error"],
    "apikeys.ApiKey": [
        *("public_id", "digest", "first_four", "last_four", "allowed_networks", "form_token"),
        "scopes",
    ],
    "apikeys.RefusalHour": ["code"],
    "credits.AutomaticOrder": ["outcome"],
    "credits.AutomaticTopUp": ["currency", "paused_for", "off_for"],
    "credits.CardToDetach": ["provider_card"],
    "credits.Hold": ["source"],
    "credits.Plan": ["code"],
    "credits.Pack": ["public_id"],
    # These rows can't be updated: `fill_with_hostile_text` adds one.
    "credits.LedgerEntry": ["kind", "source", "actor", "reason"],
    "credits.Order": [
        *("public_id", "kind", "state", "method", "currency", "form_token", "provider_url")
    ],
    "credits.ProviderCancellation": ["provider_subscription"],
    "credits.SignUpPlace": ["domain_digest"],
    "credits.StaffGrant": ["form_token", "state"],
    "credits.UseHour": ["verdict"],
    "credits.UseDay": ["verdict"],
    # Only letters, digits, hyphens and periods: they are parsed like the domains of addresses.
    "validation.AccountDomains": ["allowed", "denied"],
    "validation.LostCharge": ["result_id"],
    "validation.Replay": ["result_id", "address_hashes"],
    "lists.AddressList": [
        *("public_id", "state", "error_code", "content_type", "encoding", "delimiter", "dedupe"),
        # Shown only by the API.
        "metadata",
        # Numbers by reason, and domains that the engine has parsed.
        *("progress_marks", "reasons", "typos"),
    ],
    "validation.Feedback": [
        *("public_id", "result_id", "verdict", "reason", "expected", "state", "address_hash"),
        # Encrypted.
        "packed",
    ],
    "lists.ListPart": ["sha256"],
    "reference.Incident": ["impact"],
    "reference.IncidentUpdate": ["state"],
    "lists.ListDomain": ["route"],
    "validation.ListedDomain": ["kind"],
    "validation.StoredResult": ["result_id", "packed"],
    "validation.AcceptAllDomain": ["domain", "host"],
    "validation.KnownMailbox": ["address_hash", "reason", "smtp"],
    "validation.MailHostPace": ["organization", "egress"],
    "validation.Probe": [
        *("result_id", "request_id", "batch_id", "email", "address_hash", "domain"),
        *("organization", "egress", "reason", "answer"),
    ],
    "validation.ProbeGroup": ["list_id"],
    # Names of the DNS.
    "validation.NewMailHost": ["host", "domains", "decision"],
    "validation.UnprobedDomain": ["source"],
    "validation.LogEntry": [
        *("request_id", "refusal", "result_id", "batch_id", "address_hash", "verdict", "reason")
    ],
}


def find_text_columns() -> dict[str, set[str]]:
    """Return the text columns of every model, so that new ones can't be forgotten above."""
    field_types = (models.CharField, models.TextField, models.JSONField)
    columns: dict[str, set[str]] = {}
    for model in apps.get_models():
        if model._meta.app_label in APP_LABELS:
            names = {field.name for field in model._meta.fields if isinstance(field, field_types)}
            columns |= {model._meta.label: names} if names else {}
    return columns


def fill_with_hostile_text(account: Account) -> None:
    """Write hostile text into every user-supplied column, bypassing all forms."""
    account.ledger.create(kind="grant", amount=1, source="hostile", actor=HOSTILE, reason=HOSTILE)
    account.audit_entries.create(actor_name=HOSTILE, action="account.renamed", target=HOSTILE)
    for label, columns in USER_TEXT.items():
        model = apps.get_model(label)
        values = {name: _truncate(model, name) for name in columns}
        # Some columns are unique, so only one row of each model is changed.
        first = model._default_manager.order_by("pk").values("pk")[:1]
        model._default_manager.filter(pk__in=list(first.values_list("pk", flat=True))).update(
            **values
        )


def _truncate(model: Any, name: str) -> str:
    return HOSTILE[: model._meta.get_field(name).max_length]
