"""A validator for Django's form and model fields. It needs the extra `django`.

Settings: EMAIL_VALIDATION = {"API_KEY": …, "BASE_URL": …, "TIMEOUT": 3.0}. Each may be missing.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.deconstruct import deconstructible
from django.utils.translation import gettext_lazy as _

from emailvalidation._config import ConfigurationError
from emailvalidation.client import Client
from emailvalidation.errors import EmailValidationError

logger = logging.getLogger("emailvalidation")


@deconstructible
class SignUpEmailValidator:
    """Refuse addresses that a sign-up form should. Without an answer, the address is accepted."""

    message = _("Enter an email address that can receive mail.")
    suggestion_message = _(
        "Enter an email address that can receive mail. Did you mean %(suggestion)s?"
    )
    code = "undeliverable"

    def __call__(self, value: str) -> None:
        options = getattr(settings, "EMAIL_VALIDATION", {})
        try:
            client = _client(options.get("API_KEY"), options.get("BASE_URL"))
        except ConfigurationError as error:
            logger.error("Email addresses aren't checked: %s", error)
            return
        timeout = options.get("TIMEOUT", 3.0)
        check = client.sign_up_check(value, timeout=timeout, on_failure=_report)
        if check.accept:
            return
        message = self.suggestion_message if check.suggestion else self.message
        raise ValidationError(
            message, code=self.code, params={"suggestion": check.suggestion, "value": value}
        )

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, SignUpEmailValidator)

    def __hash__(self) -> int:
        return hash(SignUpEmailValidator)


@lru_cache(maxsize=8)
def _client(api_key: str | None, base_url: str | None) -> Client:
    return Client(api_key, base_url)


def _report(error: EmailValidationError) -> None:
    """Log the failure without the address."""
    logger.warning("An email address was accepted unchecked: %s", error)


validate_sign_up_email = SignUpEmailValidator()
