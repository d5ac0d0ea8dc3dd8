"""Which mailbox stands behind an address, by the rules of known providers. Pure.

What is not known is not guessed: at any other domain `jane+news` may well be another mailbox.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """How a provider reads the part before the @."""

    domains: frozenset[str]
    # What begins a tag, which the provider drops.
    separator: str = "+"
    ignores_dots: bool = False
    # The domain by which all of them are known, where they lead to the same mailbox.
    main_domain: str = ""


RULES = (
    Rule(frozenset({"gmail.com", "googlemail.com"}), ignores_dots=True, main_domain="gmail.com"),
    Rule(frozenset({"outlook.com", "hotmail.com", "live.com", "msn.com"})),
    Rule(frozenset({"icloud.com", "me.com", "mac.com"}), main_domain="icloud.com"),
    Rule(frozenset({"fastmail.com", "fastmail.fm"})),
    Rule(
        frozenset({"proton.me", "protonmail.com", "pm.me"}),
        ignores_dots=True,
        main_domain="proton.me",
    ),
    Rule(frozenset({"yahoo.com", "ymail.com", "rocketmail.com"}), separator="-"),
)
_RULE_OF = {domain: rule for rule in RULES for domain in rule.domains}


def canonical_address(local_part: str, domain: str) -> str:
    """Both parts as the syntax check left them, the domain in lower case."""
    local = local_part.lower()
    rule = _RULE_OF.get(domain)
    if rule is None or local.startswith('"'):
        return f"{local}@{domain}"
    mailbox = local.partition(rule.separator)[0]
    if rule.ignores_dots:
        mailbox = mailbox.replace(".", "")
    return f"{mailbox or local}@{rule.main_domain or domain}"
