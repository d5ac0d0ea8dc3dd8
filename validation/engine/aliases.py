"""Which mailbox stands behind an address, by the rules of known providers. Pure.

What is not known is not guessed: at any other domain `jane+news` may well be another mailbox.
"""

import re
import unicodedata
from dataclasses import dataclass

PLUS = "+"


@dataclass(frozen=True)
class Rule:
    """How a provider reads the part before the @."""

    # What begins a tag, which the provider drops.
    separator: str = PLUS
    ignores_dots: bool = False
    # The domain by which all of them are known, where they lead to the same mailbox.
    main_domain: str = ""


_GMAIL = Rule(ignores_dots=True, main_domain="gmail.com")
_TAGS = Rule()
_YAHOO = Rule(separator="-")
_RULE_OF = {
    **dict.fromkeys(("gmail.com", "googlemail.com"), _GMAIL),
    **dict.fromkeys(("live.com", "msn.com", "passport.com", "windowslive.com"), _TAGS),
    **dict.fromkeys(("icloud.com", "me.com", "mac.com"), _TAGS),
    **dict.fromkeys(("fastmail.com", "fastmail.fm", "fastmail.com.au"), _TAGS),
    **dict.fromkeys(("proton.me", "protonmail.com", "protonmail.ch", "pm.me"), _TAGS),
    **dict.fromkeys(("ymail.com", "rocketmail.com", "y7mail.com", "myyahoo.com"), _YAHOO),
}
# They run mail under the same name in many countries.
_RULE_OF_NAME = {"outlook": _TAGS, "hotmail": _TAGS, "yahoo": _YAHOO}
_COUNTRY = re.compile(r"((com|co)\.)?[a-z]{2}|com")
_PROVIDERS_OF_NAMES = {None, "microsoft_consumer", "yahoo"}
# Whoever runs a domain's mail there has its tags.
_TAGS_AT = {"google", "microsoft_365", "microsoft_consumer", "apple", "fastmail", "proton"}


def rule_of(domain: str, provider: str | None = None) -> Rule | None:
    rule = _RULE_OF.get(domain)
    if rule is None and provider in _TAGS_AT:
        return _TAGS
    name, _, country = domain.partition(".")
    if rule is None and provider in _PROVIDERS_OF_NAMES and _COUNTRY.fullmatch(country):
        return _RULE_OF_NAME.get(name)
    return rule


def canonical_address(local_part: str, domain: str, provider: str | None = None) -> str:
    """Both parts as the syntax check left them, the domain in lower case."""
    # Small letters may be composed in another way than the capitals were.
    local = unicodedata.normalize("NFC", local_part.lower())
    rule = rule_of(domain, provider)
    if rule is None:
        return f"{local}@{domain}"
    mailbox = local.partition(rule.separator)[0]
    if rule.ignores_dots:
        mailbox = mailbox.replace(".", "")
    return f"{mailbox or local}@{rule.main_domain or domain}"


def split_tag(local_part: str, domain: str, provider: str | None = None) -> tuple[str, str | None]:
    """The mailbox and its tag; the tag is reported wherever it stands behind a plus."""
    rule = rule_of(domain, provider)
    for separator in (rule.separator, PLUS) if rule else (PLUS,):
        mailbox, _, tag = local_part.partition(separator)
        if mailbox and tag:
            return mailbox, tag
    return local_part, None


def without_plus(local_part: str) -> str:
    return local_part.partition(PLUS)[0] or local_part
