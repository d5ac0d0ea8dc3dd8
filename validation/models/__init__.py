from validation.models.account_domains import AccountDomains
from validation.models.erased_addresses import ErasedAddress
from validation.models.feedback import Feedback, FeedbackText
from validation.models.list_domains import DomainBlock, ListDomain
from validation.models.list_samples import ListSample
from validation.models.list_uploads import ListUpload
from validation.models.listed_domains import ListedDomain
from validation.models.lists import AddressList, ListAddress, ListChunk, ListPart
from validation.models.log_entries import LogEntry
from validation.models.lost_charges import LostCharge
from validation.models.replays import (
    MAX_FREE_BATCH_REPLAYS,
    MAX_SANDBOX_REPLAYS,
    Replay,
    ReplayExists,
)
from validation.models.stored_results import StoredResult

__all__ = [
    "MAX_FREE_BATCH_REPLAYS",
    "MAX_SANDBOX_REPLAYS",
    "AccountDomains",
    "AddressList",
    "DomainBlock",
    "ErasedAddress",
    "Feedback",
    "FeedbackText",
    "ListAddress",
    "ListChunk",
    "ListDomain",
    "ListPart",
    "ListSample",
    "ListUpload",
    "ListedDomain",
    "LogEntry",
    "LostCharge",
    "Replay",
    "ReplayExists",
    "StoredResult",
]
