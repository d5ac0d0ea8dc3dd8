import tomllib
from pathlib import Path

from django.db.models import TextChoices


class ActionGroup(TextChoices):
    SECURITY = "security", "Sign-in and security"
    KEYS = "keys", "API keys"
    WEBHOOKS = "webhooks", "Webhooks"
    TEAM = "team", "Team"
    BILLING = "billing", "Billing"
    ACCOUNT = "account", "Account and data"
    # These concern no account, so customers never see them.
    SERVICE = "service", "Service"


LABELS_BY_GROUP: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text()
)
LABELS = {code: label for labels in LABELS_BY_GROUP.values() for code, label in labels.items()}
