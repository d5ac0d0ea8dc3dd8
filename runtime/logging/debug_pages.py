from typing import Any

from django.views.debug import SafeExceptionReporterFilter

from runtime.logging.formatters import mask_secrets


class MaskingFilter(SafeExceptionReporterFilter):
    """Mask secrets also in settings whose name doesn't reveal them."""

    def cleanse_setting(self, key: Any, value: Any) -> Any:
        cleansed = super().cleanse_setting(key, value)
        return mask_secrets(cleansed) if isinstance(cleansed, str) else cleansed
