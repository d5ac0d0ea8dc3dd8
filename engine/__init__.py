"""Check email addresses without sending mail. Other packages import only from here.

engine = Engine(Resolver(["127.0.0.1:5353"]))
engine.check("jane@shop.com").document()
"""

from engine.aliases import canonical_address, strip_plus_tag
from engine.check import Engine
from engine.data_release import DataRelease, ReleaseRefused
from engine.dns.budget import SIGN_UP, VISITOR
from engine.dns.mail_route import MailHost, MailRoute, dump_route, load_route
from engine.dns.networks import is_public
from engine.dns.providers import OTHER as OTHER_PROVIDER
from engine.dns.providers import PROVIDERS
from engine.dns.resolver import Resolver
from engine.domain_data import (
    DOMAIN_DATA,
    NO_STAFF_DOMAINS,
    StaffDomains,
    is_below,
    with_parents,
)
from engine.lookups import LookupShare
from engine.sandbox import SANDBOX_DOMAIN, sandbox_smtp, sandbox_word
from engine.smtp.connect import Dialer, connect_directly, find_targets, probe_host
from engine.smtp.finding import as_failed, as_pending, smtp_document, with_mailbox, without_answer
from engine.smtp.mailbox import MailboxAnswer, control_name
from engine.smtp.never_probed import hides_mailboxes
from engine.smtp.probe import HostFacts, MailboxReply, Prober
from engine.smtp.replies import ReplyClass
from engine.smtp.reply_text import read_code, read_status, redact
from engine.smtp.session import MailboxQuestion
from engine.smtp.socks import SocksProxy
from engine.smtp.wire import SmtpOutcome
from engine.suggestions.suggest import suggest_domain
from engine.syntax.errors import SYNTAX_MESSAGES
from engine.syntax.parsing import AddressParts, SyntaxProblem, parse_address, to_unicode
from engine.verdicts.decision import DomainInfo
from engine.verdicts.finding import CHECKS, PENDING_SECONDS, Finding
from engine.verdicts.reasons import (
    MEANINGS,
    REASONS,
    VERDICT_BY_REASON,
    Meaning,
    Verdict,
    explain_result,
)
from engine.verdicts.score import MAX_SCORES, MIN_SCORES, WEIGHTS
