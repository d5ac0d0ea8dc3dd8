from engine import Verdict
from validation.account_domains.matching import OwnDomains
from validation.account_domains.services import DomainLists

MAX_NAMED = 5


def account_list_note(account_list: str | None, verdict: str) -> str:
    """Say what the account's lists changed, if anything."""
    if account_list == "denied":
        return "Denied by your own domains: reject the address."
    if account_list is None:
        return ""
    if verdict == Verdict.UNDELIVERABLE:
        return "Allowed by your own domains, but undeliverable: reject the address."
    return "Allowed by your own domains: accept the address."


def overruled_note(lists: DomainLists) -> str:
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
