"""Check email addresses without sending mail. Other packages import only from here.

engine = Engine(Resolver(["127.0.0.1:5353"]))
engine.check("jane@shop.com").document()
"""

from engine.aliases import canonical_address, strip_plus_tag
from engine.batch import LookupShare
from engine.check import Engine
from engine.dns.budget import SIGN_UP, VISITOR
from engine.dns.mail_route import MailHost, MailRoute
from engine.dns.networks import is_public
from engine.dns.providers import PROVIDERS
from engine.dns.resolver import Resolver
from engine.dns.stored_route import dump_route, load_route
from engine.domain_data import BUILT_IN_DATA, NO_STAFF_DOMAINS, StaffDomains, with_parents
from engine.sandbox import SANDBOX_DOMAIN, sandbox_word
from engine.smtp.connect import HostAnswer, MailTarget, connect_directly, find_targets, probe_host
from engine.smtp.session import Conversation, MailboxQuestion
from engine.smtp.socks import SocksProxy
from engine.smtp.wire import SmtpLimits, SmtpOutcome, Unsendable
from engine.suggestions.suggest import suggest_domain
from engine.syntax.errors import SYNTAX_MESSAGES
from engine.syntax.parsing import AddressParts, SyntaxProblem, parse_address, to_unicode
from engine.verdicts.decision import DomainInfo
from engine.verdicts.finding import CHECKS, Finding
from engine.verdicts.reason_texts import MEANINGS, Meaning, reasons_by_verdict
from engine.verdicts.reasons import REASONS, VERDICT_BY_REASON, Verdict
from engine.verdicts.score import MAX_SCORES, MIN_SCORES, WEIGHTS

__all__ = [
    "BUILT_IN_DATA",
    "CHECKS",
    "MAX_SCORES",
    "MEANINGS",
    "MIN_SCORES",
    "NO_STAFF_DOMAINS",
    "PROVIDERS",
    "REASONS",
    "SANDBOX_DOMAIN",
    "SIGN_UP",
    "SYNTAX_MESSAGES",
    "VERDICT_BY_REASON",
    "VISITOR",
    "WEIGHTS",
    "AddressParts",
    "Conversation",
    "DomainInfo",
    "Engine",
    "Finding",
    "HostAnswer",
    "LookupShare",
    "MailHost",
    "MailRoute",
    "MailTarget",
    "MailboxQuestion",
    "Meaning",
    "Resolver",
    "SmtpLimits",
    "SmtpOutcome",
    "SocksProxy",
    "StaffDomains",
    "SyntaxProblem",
    "Unsendable",
    "Verdict",
    "canonical_address",
    "connect_directly",
    "dump_route",
    "find_targets",
    "is_public",
    "load_route",
    "parse_address",
    "probe_host",
    "reasons_by_verdict",
    "sandbox_word",
    "strip_plus_tag",
    "suggest_domain",
    "to_unicode",
    "with_parents",
]
