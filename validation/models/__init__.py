from validation.models.account_domains import AccountDomains
from validation.models.domain_data import StoredDataRelease
from validation.models.feedback import Feedback, FeedbackText
from validation.models.known_mailboxes import AcceptAllDomain, KnownMailbox, UnprobedDomain
from validation.models.listed_domains import ListedDomain
from validation.models.log_entries import LogEntry
from validation.models.lost_charges import LostCharge
from validation.models.mail_hosts import NewMailHost
from validation.models.probes import Check, MailboxCheckDay, MailHostPace, Probe, ProbeGroup
from validation.models.replays import (
    MAX_FREE_BATCH_REPLAYS,
    MAX_SANDBOX_REPLAYS,
    Replay,
    ReplayExists,
)
from validation.models.stored_results import StoredResult
