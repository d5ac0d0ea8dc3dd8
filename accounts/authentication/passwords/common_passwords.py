import re

from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError

# Words about this product, which attackers try first.
PRODUCT_WORDS = {
    *("email", "emails", "emailvalidation", "validation", "validate", "validator", "address"),
    *("emailaddress", "dashboard", "account", "apikey", "credits", "staff", "owner", "support"),
    *("administrator", "letmein", "changeme", "svclive"),
}
_PADDING = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_REPETITION = re.compile(r"(.{1,4}?)\1+")


class GuessablePasswordValidator(CommonPasswordValidator):
    """Refuse Django's 20,000 most common passwords, words about this product, and repetitions.

    Words are refused with digits or punctuation around them, too.
    """

    def validate(self, password: str, user: object = None) -> None:
        plain = password.lower().strip()
        core = re.sub(r"[\W_]", "", _PADDING.sub("", plain))
        candidates = {plain, core} if 3 * len(core) > len(plain) else {plain}
        if candidates & (self.passwords | PRODUCT_WORDS) or _REPETITION.fullmatch(plain):
            raise ValidationError(
                "This password is too common. Use several random words, or let your browser "
                "suggest one.",
                code="password_too_common",
            )
