"""Parse an uploaded list: store its rows in chunks, and find out what it can cost at most.

A process that claimed the list parses it as a whole. If the process dies, the lease ends and
another one starts over. Errors of the database or disk are left to the caller: the list stays in
its state, and is parsed again once the lease has ended.
"""

import time

from django.db import transaction

from credits.plans.list_limits import list_limits
from validation.domain_data import staff_domains
from validation.lists import storage
from validation.lists.files.errors import UnreadableFile
from validation.lists.files.preview import Preview, PreviewCounter
from validation.lists.payloads import Rows
from validation.lists.services import change_state
from validation.lists.uploads import limits
from validation.lists.uploads.deduplication import Classified, Deduplicator
from validation.lists.uploads.previews import StoredPreview
from validation.lists.uploads.sources import Source, Table, open_source
from validation.models import (
    AddressList,
    ListChunk,
    ListUpload,
)
from validation.models.list_states import State

MAX_ATTEMPTS = 5
_FAILED = (
    "We couldn't read the list because of an error on our side. Upload it again, or contact"
    " support if this happens again."
)
_RENEWAL_SECONDS = 30.0


class LeaseLost(Exception):
    """Another process parses the list, or it was canceled or deleted."""


class ListRejected(Exception):
    """The list can't be used. `message` is for the customer."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code)
        self.code, self.message = code, message


def parse_list(address_list: AddressList) -> None:
    raise NotImplementedError
