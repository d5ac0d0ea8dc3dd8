"""What users find in the last email: codes and links."""

import re

from runtime.models import Mail


def find_in_last_email(pattern: str) -> str:
    match = re.search(pattern, Mail.objects.latest("pk").text, re.M)
    assert match
    return match[1]


def code_in_email() -> str:
    return find_in_last_email(r"^([A-Z0-9]{4}-[A-Z0-9]{4})$")


def path_in_email(start: str) -> str:
    """Return the path of the link, without the site's address."""
    return find_in_last_email(rf"^http://127\.0\.0\.1:8000({start}\S+)$")
