"""What the layers above attach to an email when it is sent. The outbox stores only a reference."""

from typing import NamedTuple, Protocol

from runtime.hooks import Hook


class Attachment(NamedTuple):
    name: str
    content: bytes
    content_type: str


class AttachmentDelayed(Exception):
    """Raised if the file may be made later."""


class MakeAttachment(Protocol):
    def __call__(self, *, reference: str) -> Attachment:
        """Make the file.

        The email is sent without it if this raises an exception. AttachmentDelayed makes it wait
        for two retries first.
        """


make_attachment = Hook[MakeAttachment]("MAIL_ATTACHMENT")
