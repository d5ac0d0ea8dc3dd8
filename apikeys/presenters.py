"""Say on the pages of the keys what limits each one, and since when it no longer works. Pure."""

from dataclasses import dataclass
from datetime import datetime

from django.template.defaultfilters import pluralize

from apikeys.credit_limits import CreditUse
from apikeys.models import ApiKey


@dataclass(frozen=True)
class ActiveKeyRow:
    key: ApiKey
    # Of this month, if the key has a credit limit.
    use: CreditUse | None = None

    @property
    def restrictions(self) -> list[str]:
        """Return what the key has in place of the account's limits."""
        networks, limit = len(self.key.allowed_networks), self.key.requests_per_minute
        texts = []
        if networks:
            texts.append(f"Only from {networks} network{pluralize(networks)}")
        if limit:
            texts.append(f"{limit:,} request{pluralize(limit)} per minute")
        return texts

    @property
    def created_by(self) -> str:
        creator = self.key.created_by
        return f"by {creator.display_name()}" if creator else ""

    @property
    def last_used_from(self) -> str:
        return f"from {self.key.last_used_ip}" if self.key.last_used_ip else ""

    @property
    def expiry_tone(self) -> str:
        """Return the badge's CSS class."""
        return "risky" if self.key.expires_soon else ""

    @property
    def replacement(self) -> str:
        successor = self.key.replaced_by
        return f"Replaced by {successor.display}" if successor else ""


@dataclass(frozen=True)
class InactiveKeyRow:
    key: ApiKey

    @property
    def state(self) -> str:
        return "Revoked" if self.key.is_revoked else "Expired"

    @property
    def since(self) -> datetime | None:
        return self.key.revoked_at or self.key.expires_at
