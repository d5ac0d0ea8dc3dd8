from accounts.engine import get_engine
from engine import AddressParts, parse_address, suggest_domain, to_unicode
from validation.models import LogEntry


def suggest_for_entry(entry: LogEntry) -> str | None:
    """Suggest again, with today's domain data: the log stores no suggestions."""
    engine = get_engine()
    parts = parse_address(f"x@{entry.domain}")
    if not entry.domain or not isinstance(parts, AddressParts):
        return None
    if entry.sandbox:
        finding = engine.simulate(parts.normalized, entry.reason)
        return finding.did_you_mean and finding.did_you_mean.rpartition("@")[2]
    accepts_mail = entry.check_values["accepts_mail"]
    # Mail hosts, which decide about a domain that accepts mail, aren't stored.
    is_typo = entry.reason == "possible_typo"
    if not is_typo and accepts_mail is not False:
        return None
    data = engine.domain_data
    domain = suggest_domain(parts.ascii_domain, data, accepts_mail=accepts_mail, is_idle=is_typo)
    return domain and to_unicode(domain)
