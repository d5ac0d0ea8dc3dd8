"""Which passwords are tried first, whoever they belong to. Pure."""

import re
from typing import Any

from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError

# What this product is about: the first words that come to mind on its pages.
WORDS = {
    *("email", "emails", "emailvalidation", "validation", "validate", "validator", "address"),
    *("emailaddress", "dashboard", "account", "apikey", "credits", "staff", "owner", "support"),
    *("administrator", "letmein", "changeme", "svclive"),
}
_AROUND = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_AGAIN_AND_AGAIN = re.compile(r"(.{1,4}?)\1+")


class GuessablePasswordValidator(CommonPasswordValidator):
    """One of Django's 20,000 most common, such a word with digits or signs around it, or a few
    letters again and again. What it is made of is nobody's business otherwise."""

    def validate(self, password: str, user: Any = None) -> None:
        plain = password.lower().strip()
        core = re.sub(r"[\W_]", "", _AROUND.sub("", plain))
        tried = {plain, core} if 3 * len(core) > len(plain) else {plain}
        if tried & (self.passwords | WORDS) or _AGAIN_AND_AGAIN.fullmatch(plain):
            raise ValidationError(
                "This password is one of the first that are tried. Take several words that you "
                "choose at random, or let your browser make one.",
                code="password_too_common",
            )

    def get_help_text(self) -> str:
        return "It is none of those that everybody tries first."
