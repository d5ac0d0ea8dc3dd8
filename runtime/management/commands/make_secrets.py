import re
import secrets
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

TEMPLATE = Path(__file__).parents[3] / "deploy" / "production.env.example"
_EMPTY = re.compile(r"^[A-Z_]+=$", re.MULTILINE)
_INVENTED = re.compile(r"^[A-Z_]+=.*(?:example|EX\d).*$", re.MULTILINE | re.IGNORECASE)


class Command(BaseCommand):
    """This runs before the operator has settings."""

    help = "Print an environment file for production with new secrets. Writes and changes nothing."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        text = _INVENTED.sub(r"#\g<0>", TEMPLATE.read_text())
        # Needs no quotes in URLs and environment files.
        self.stdout.write(_EMPTY.sub(lambda line: line[0] + secrets.token_urlsafe(48), text))
