"""Suggest the domain that a logged request probably meant."""

from accounts.engine import get_engine
from validation.addresses import unpack_checks
from validation.engine.sandbox import sandbox_finding
from validation.engine.suggestions.suggest import suggest_domain
from validation.engine.syntax.parsing import AddressParts, parse_address, to_unicode
from validation.engine.verdicts.finding import CHECKS
from validation.models import LogEntry


def suggest_for_entry(entry: LogEntry) -> str | None:
    """Suggest again, with today's domain data: the log stores neither addresses nor suggestions."""
    engine = get_engine()
    parts = parse_address(f"x@{entry.domain}")
    if not entry.domain or not isinstance(parts, AddressParts):
        return None
    if entry.sandbox:
        finding = sandbox_finding(engine.check_without_dns(parts.normalized), entry.reason)
        return finding.did_you_mean and finding.did_you_mean.rpartition("@")[2]
    accepts_mail = unpack_checks(entry.checks, CHECKS)["accepts_mail"]
    # The mail hosts and policies aren't stored. They decide about a domain that accepts mail.
    is_typo = entry.reason == "possible_typo"
    if not is_typo and accepts_mail is not False:
        return None
    data = engine.domain_data
    domain = suggest_domain(parts.ascii_domain, data, accepts_mail=accepts_mail, is_idle=is_typo)
    return domain and to_unicode(domain)
