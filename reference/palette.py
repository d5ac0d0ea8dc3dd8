"""Search what the member's role may open. static/js/palette.js shows the results in a dialog."""

import tomllib
from pathlib import Path
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
TARGETS: dict[str, dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text()
)


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
        found[group] = [Entry(reverse(view), *texts) for view, texts in targets.items()]
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
