from typing import Any

from django.conf import settings
from django.core.checks import Warning as CheckWarning


def legal_pages_are_complete(**_: Any) -> list[CheckWarning]:
    if not settings.TO_FILL_IN:
        return []
    missing = ", ".join(settings.TO_FILL_IN)
    hint = "docs/configuration.md, “Legal pages”, says what belongs there."
    return [CheckWarning(f"The legal pages lack {missing}.", hint=hint, id="accounts.W001")]
