from django.db.models import Count, Min, Q

from engine import Verdict
from lists.models import AddressList
from lists.models.states import UNFINISHED, ListState
from runtime.dates import seconds_since
from runtime.metrics.client import Counter, LatestGauge, initialize

chunks_checked = Counter("emailvalidation_list_chunks", "Chunks of lists checked.")
addresses_checked = Counter(
    "emailvalidation_list_addresses",
    "Addresses of lists checked, by verdict. Those checked again count again.",
    ("verdict",),
)
initialize(addresses_checked, [verdict.value for verdict in Verdict])
unfinished_lists = LatestGauge("emailvalidation_lists", "Unfinished lists, by state.", ("state",))
oldest_waiting = LatestGauge(
    "emailvalidation_lists_oldest_waiting_seconds",
    "How long the list that waited longest has waited to be parsed or checked.",
)

stuck = LatestGauge(
    "emailvalidation_lists_stuck",
    "Lists on which no process has worked for ten minutes, though there is work.",
)


def measure() -> None:
    stuck.set(AddressList.objects.stuck().count())
    lists = AddressList.objects.unfinished().order_by()
    counts = dict(lists.values_list("state").annotate(count=Count("pk")))
    for state in sorted(UNFINISHED):
        unfinished_lists.labels(state.value).set(counts.get(state, 0))
    since = lists.of_active_accounts().aggregate(
        parsing=Min("updated_at", filter=Q(state=ListState.PARSING)),
        queued=Min("started_at", filter=Q(state=ListState.QUEUED)),
    )
    first = min((moment for moment in since.values() if moment), default=None)
    oldest_waiting.set(seconds_since(first))
