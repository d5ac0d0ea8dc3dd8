from validation.models.domains import AccountDomains, ListedDomain, NewMailHost, StoredDataRelease
from validation.models.feedback import Feedback, FeedbackText
from validation.models.known_mailboxes import AcceptAllDomain, KnownMailbox, UnprobedDomain
from validation.models.log_entries import LogEntry
from validation.models.lost_charges import LostCharge
from validation.models.probes import Check, MailboxCheckDay, MailHostPace, Probe, ProbeGroup
from validation.models.replays import (
    MAX_FREE_BATCH_REPLAYS,
    MAX_SANDBOX_REPLAYS,
    Replay,
    ReplayExists,
)
from validation.models.stored_results import StoredResult
