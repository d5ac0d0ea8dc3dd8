"""What Django's debug pages show of the settings."""

from typing import Any

from django.views.debug import SafeExceptionReporterFilter

from runtime.logging.formatters import mask_secrets


class MaskingFilter(SafeExceptionReporterFilter):
    """Mask secrets in all settings, also in those whose name doesn't reveal that they have one."""

    def cleanse_setting(self, key: Any, value: Any) -> Any:
        cleansed = super().cleanse_setting(key, value)
        return mask_secrets(cleansed) if isinstance(cleansed, str) else cleansed
