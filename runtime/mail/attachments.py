from typing import NamedTuple, Protocol

from runtime.hooks import Hook


class Attachment(NamedTuple):
    name: str
    content: bytes
    content_type: str


class MakeAttachment(Protocol):
    def __call__(self, *, reference: str) -> Attachment:
        """Make the file. If this fails, the email is sent without it."""


make_attachment = Hook[MakeAttachment]("MAIL_ATTACHMENT")
