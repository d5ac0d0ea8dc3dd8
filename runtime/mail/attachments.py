"""What the layers above attach to an email when it is sent. The outbox stores only a reference."""

from typing import NamedTuple, Protocol

from runtime.hooks import Hook


class Attachment(NamedTuple):
    name: str
    content: bytes
    content_type: str


class AttachmentDelayed(Exception):
    """Raised if a later attempt may make the file."""


class MakeAttachment(Protocol):
    def __call__(self, *, reference: str) -> Attachment:
        """Make the file.

        If this raises an exception, the email is sent without the file. After AttachmentDelayed,
        it is retried first: see ATTEMPTS_WITH_ATTACHMENT in outbox.py.
        """


make_attachment = Hook[MakeAttachment]("MAIL_ATTACHMENT")
