"""Say what an account's own domains are, and what they change in a result. Pure."""

from validation.domain_data.account_domains import OwnDomains
from validation.domains.services import DomainLists
from validation.engine.verdicts.reasons import Verdict

MAX_NAMED = 5


def account_list_note(account_list: str | None, verdict: str) -> str:
    """Say what the account's own lists changed in a result. Empty for a domain on neither."""
    if account_list == "denied":
        return "Denied by your own domains: reject the address."
    if account_list is None:
        return ""
    if verdict == Verdict.UNDELIVERABLE:
        return "Allowed by your own domains, but undeliverable: reject the address."
    return "Allowed by your own domains: accept the address."


def overruled_note(lists: DomainLists) -> str:
    """Name the allowed domains that a denied one covers. Empty if there are none."""
    denied = OwnDomains(denied=frozenset(lists.denied))
    domains = [domain for domain in lists.allowed if denied.find(domain)]
    if not domains:
        return ""
    more = len(domains) - MAX_NAMED
    names = ", ".join(domains[:MAX_NAMED]) + (f", and {more:,} more" if more > 0 else "")
    return f"Denied wins, so these allowed domains are denied: {names}."


def saved_message(lists: DomainLists) -> str:
    allowed, denied = len(lists.allowed), len(lists.denied)
    return f"Saved {allowed:,} allowed and {denied:,} denied domains. Your next request uses them."
