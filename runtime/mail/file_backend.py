from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from django.core.mail import EmailMessage
from django.core.mail.backends import filebased


class EmailBackend(filebased.EmailBackend):
    """Write emails to files whose names sort by time."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        for message in email_messages:
            name = f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.eml"
            Path(self.file_path, name).write_bytes(message.message().as_bytes())
        return len(email_messages)
