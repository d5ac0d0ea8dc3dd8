from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from engine.aliases import canonical_address, split_tag, strip_plus_tag
from engine.dns.mail_route import MailRoute
from engine.domain_data import DisposableBy, DomainData, StaffDomains
from engine.machine_addresses import MACHINE_DOMAINS, is_machine_mailbox
from engine.mailbox_rules import judge_mailbox
from engine.suggestions.suggest import suggest_domain
from engine.syntax.parsing import AddressParts, parse_address, to_unicode
from engine.syntax.unicode_scripts import is_mixed_domain, is_mixed_local_part
from engine.verdicts.finding import Finding
from engine.verdicts.reasons import PRECEDENCE

_RISK_CHECKS = ("disposable", "mixed_script", "role_account", "no_reply", "smtputf8_required")


class DomainInfo(NamedTuple):
    route: MailRoute
    staff_domains: StaffDomains
    registrable_domain: str | None
    suggestion: str | None
    checks: Mapping[str, bool | None]
    disposable_by: DisposableBy | None
    is_parked: bool
    lookalike_of: str | None
    # Of the domain data.
    versions: Mapping[str, str]


def describe_domain(
    data: DomainData, domain: str, route: MailRoute, staff_domains: StaffDomains
) -> DomainInfo:
    # First: what is found with replaced data must not pass for newer.
    versions = data.versions
    hosts = [mail_host.host for mail_host in route.hosts]
    disposable_by = data.disposable_by(domain, hosts, staff_domains)
    is_parked = data.is_parked(domain, hosts)
    suggestion = None
    if route.problem != "reserved_domain":
        # No person reads it, so it's corrected like a domain without mail.
        accepts_mail = False if is_parked else route.accepts_mail
        suggestion = suggest_domain(
            domain,
            data,
            accepts_mail=accepts_mail,
            provider=route.provider,
            # It names no mail host, or disowns all of its mail.
            is_idle=route.fallback is not None or route.spf == "denies_all",
        )
    checks = _domain_checks(
        domain_exists=route.domain_exists,
        accepts_mail=route.accepts_mail,
        null_mx=route.null_mx,
        disposable=disposable_by is not None,
        free_provider=domain in data.free_providers,
        relay=data.is_relay(domain),
        machine_address=domain in MACHINE_DOMAINS,
    )
    suggestion = to_unicode(suggestion) if suggestion is not None else None
    # Where people have mailboxes, it's their name.
    is_unused = route.accepts_mail is False or is_parked
    lookalike_of = data.find_lookalike(to_unicode(domain)) if is_unused else None
    registrable = data.registrable_domain(domain)
    return DomainInfo(
        *(route, staff_domains, registrable, suggestion, checks, disposable_by, is_parked),
        lookalike_of,
        versions,
    )


@lru_cache(maxsize=256)
def _domain_checks(**checks: bool | None) -> Mapping[str, bool | None]:
    """Share a mapping between equal checks: workers cache many domains."""
    return {"syntax": True, **checks}


def build_finding(
    data: DomainData,
    email: str,
    parts: AddressParts,
    info: DomainInfo,
    *,
    dns_cached: bool | None = None,
) -> Finding:
    local_part, route = parts.local_part, info.route
    tag = split_tag(local_part, parts.ascii_domain, route.provider)[1]
    # Only plus tags: Yahoo's hyphen would split no-reply.
    mailbox = strip_plus_tag(local_part).lower()
    checks = {
        **info.checks,
        "role_account": data.is_role_account(mailbox),
        "no_reply": data.is_no_reply(mailbox),
        "has_tag": tag is not None,
        "reserved_domain": route.problem == "reserved_domain",
        "smtputf8_required": not local_part.isascii(),
        "mixed_script": is_mixed_domain(parts.domain) or is_mixed_local_part(local_part),
        "machine_address": info.checks["machine_address"] or is_machine_mailbox(local_part),
        "placeholder": data.is_placeholder(mailbox),
    }
    canonical = canonical_address(local_part, parts.domain, route.provider)
    judgment = judge_mailbox(mailbox, canonical.partition("@")[0], parts.ascii_domain)
    return Finding(
        email,
        _find_reasons(checks, info, judgment),
        "dns" if route.is_known else "syntax",
        parts=parts,
        canonical=canonical,
        tag=tag,
        registrable_domain=info.registrable_domain,
        checks=checks,
        route=route,
        did_you_mean=_suggest_address(local_part, info.suggestion),
        lookalike_of=info.lookalike_of,
        lists=data.versions,
        disposable_by=info.disposable_by,
        dns_cached=dns_cached,
    )


def _find_reasons(
    checks: dict[str, bool | None], info: DomainInfo, judgment: str | None
) -> tuple[str, ...]:
    reasons, problem = [name for name in _RISK_CHECKS if checks[name]], info.route.problem
    if checks["accepts_mail"] is None and not checks["reserved_domain"]:
        # Without the DNS, only a disposable domain is definite.
        return (
            tuple(sorted(reasons, key=PRECEDENCE.index))
            if checks["disposable"]
            else (problem or "check_failed",)
        )
    if problem is not None:
        reasons.append(problem)
    if judgment is not None:
        reasons.append(judgment)
    if info.is_parked:
        reasons.append("parked")
    if info.suggestion is not None:
        reasons.append("possible_typo")
    return tuple(sorted(reasons, key=PRECEDENCE.index)) or ("domain_accepts_mail",)


def _suggest_address(local_part: str, domain: str | None) -> str | None:
    suggestion = f"{local_part}@{domain}"
    return suggestion if domain and isinstance(parse_address(suggestion), AddressParts) else None
