"""Search what the member's role may open. static/js/palette.js shows the results in a dialog."""

from typing import NamedTuple
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import resolve, reverse

from accounts.models import Account, Membership
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from apikeys.crypto import contains_secret
from reference.docs.pages import PAGES
from validation.addresses import address_hash
from validation.ids import BATCH_ID, normalize_result_id, result_created_at
from validation.models import LogEntry
from validation.request_log import search
from validation.request_log.filters import REQUEST_ID

# As long as an address.
MAX_QUERY_LENGTH = 320
MAX_ENTRIES = 12
MAX_ORDERS = 200
# View, icon, title, and other words that find it. A view for a form redirects to its page.
TARGETS = {
    "Pages": (
        ("validation:show-overview", "layout-dashboard", "Overview", "home dashboard"),
        ("validation:show-requests", "list", "Requests", "log results errors"),
        ("validation:show-usage", "chart-column", "Usage", "statistics chart"),
        ("validation:try-address", "flask-conical", "Playground", "test validate check batch"),
        ("lists:show-lists", "list-checks", "Lists", "files csv results"),
        ("credits:show-billing", "credit-card", "Billing", "balance plan card top-up"),
        ("credits:show-ledger", "coins", "Ledger", "credits statement"),
        ("credits:show-orders", "printer", "Orders and invoices", "receipts payments"),
    ),
    "Actions": (
        ("apikeys:create-key", "plus", "Create key", "new api secret"),
        ("lists:create-list", "upload", "Upload a list", "new file csv clean"),
        ("credits:choose-pack", "coins", "Buy credits", "pack top-up order"),
        ("credits:choose-plan", "credit-card", "Change plan", "upgrade subscription cancel"),
        ("accounts:invite-member", "users", "Invite a team member", "add user colleague"),
        ("accounts:create-webhook", "webhook", "Create webhook", "add new endpoint"),
    ),
    "Settings": (
        ("accounts:edit-profile", "user", "Profile", "name email theme time zone account export"),
        ("accounts:show-team", "users", "Team", "members roles invitations"),
        ("apikeys:show-keys", "key-round", "API Keys", "secrets tokens"),
        ("accounts:show-webhooks", "webhook", "Webhooks", "events endpoints"),
        ("validation:show-domains", "globe", "Domains", "allowed denied blocked"),
        (
            "accounts:show-security",
            "shield",
            "Security",
            "password two-factor 2fa passkey sessions",
        ),
        ("accounts:show-audit-log", "history", "Audit log", "changes who"),
        ("accounts:show-notifications", "mail", "Notifications", "emails alerts"),
        ("validation:show-data", "database", "Data", "retention erase delete address privacy gdpr"),
    ),
}


class Entry(NamedTuple):
    url: str
    icon: str
    title: str
    words: str = ""


@require_permission(TeamPermission.VIEW_ACCOUNT)
def search_dashboard(request: AccountRequest) -> HttpResponse:
    """Show the page, or only its options for the dialog."""
    query = request.GET.get("q", "")[:MAX_QUERY_LENGTH].replace("\0", "").strip()
    is_secret = contains_secret(query)
    groups = [] if is_secret else find_entries(request.membership, query)
    # Don't show a key again.
    context = {"query": "" if is_secret else query, "is_secret": is_secret, "groups": groups}
    template = "fragments/options" if "options" in request.GET else "search_dashboard"
    return render(request, f"reference/{template}.html", context)


def find_entries(membership: Membership, query: str) -> list[tuple[str, list[Entry]]]:
    """Return groups, best first. Without a query: all pages but the docs, and newest objects."""
    account, words = membership.account, query.lower().split()
    found = {"Requests": _find_requests(account, query)}
    for group, targets in TARGETS.items():
        found[group] = [Entry(reverse(view), *texts) for view, *texts in targets]
    lists = account.lists.filter(name__icontains=query).order_by("-created_at")[:MAX_ENTRIES]
    for group, view, icon, rows in (
        ("API keys", "apikeys:change-key", "key-round", account.api_keys.active()),
        ("Lists", "lists:show-list", "list-checks", lists),
        ("Orders", "credits:show-order", "printer", account.orders.all()[:MAX_ORDERS]),
    ):
        found[group] = [Entry(reverse(view, args=[r.public_id]), icon, str(r), group) for r in rows]
    search_url = f"{reverse('docs:search-docs')}?{urlencode({'q': query})}"
    docs = [Entry(search_url, "search", f"Search the docs for “{query}”")]
    # Without their sections, because indexing them takes seconds.
    docs += [Entry(reverse(p.view_name), "book-open", p.title, p.summary) for p in PAGES]
    found["Docs"] = docs if query else []

    def is_wanted(entry: Entry) -> bool:
        permission = getattr(resolve(entry.url.partition("?")[0]).func, "permission", None)
        may_open = permission is None or membership.has_permission(permission)
        return may_open and all(word in f"{entry.title} {entry.words}".lower() for word in words)

    def rank(entry: Entry) -> int:
        return sum(f" {word}" not in f" {entry.title.lower()}" for word in words)

    groups = [(group, sorted(filter(is_wanted, found[group]), key=rank)) for group in found]
    groups = [(group, entries[:MAX_ENTRIES]) for group, entries in groups if entries]
    return sorted(groups, key=lambda group: (group[0] == "Docs", rank(group[1][0])))


def _find_requests(account: Account, query: str) -> list[Entry]:
    """The URL has an address only as a hash."""
    url, result_id = reverse("validation:show-requests"), normalize_result_id(query)
    rows = LogEntry.objects.retained_for(account)
    if "@" in query:
        url += f"?address={address_hash(query)}"
    elif BATCH_ID.fullmatch(result_id):
        url += f"?batch={result_id}"
    elif result_created_at(result_id) and (entry := search.find_result(account, result_id)):
        url = entry.get_absolute_url()
    elif REQUEST_ID.fullmatch(query) and rows.filter(request_id=query).exists():
        url += f"?request={query}"
    else:
        return []
    return [Entry(url, "list", f"Requests for {query}")]
