import re
import secrets
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

TEMPLATE = Path(__file__).parents[3] / "deploy" / "production.env.example"
_EMPTY = re.compile(r"^[A-Z_]+=$", re.MULTILINE)
# Invented values that production would accept.
_INVENTED = re.compile(r"^[A-Z_]+=.*(?:example|EX\d).*$", re.MULTILINE | re.IGNORECASE)


class Command(BaseCommand):
    """Print deploy/production.env.example with secrets for its empty variables.

    manage.py runs this without settings, as an operator has none yet. Values that only the operator
    knows are commented out, so that production names those that are still missing.
    """

    help = "Print an environment file for production with new secrets. Writes and changes nothing."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        text = _INVENTED.sub(r"#\g<0>", TEMPLATE.read_text())
        # As base64 for URLs, it needs no quotes, neither in URLs nor in environment files.
        self.stdout.write(_EMPTY.sub(lambda line: line[0] + secrets.token_urlsafe(48), text))
