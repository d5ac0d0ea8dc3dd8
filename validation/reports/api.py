from datetime import date, timedelta

from django.utils import timezone

from apikeys.models import ApiKey
from apikeys.request import ApiRequest
from apikeys.rest.request_body import invalid_field
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import describe
from apikeys.rest.view import ApiView
from credits.models.usage import Source
from runtime.dates import midnight
from validation.reports.date_ranges import DAY, DateRange, Unit
from validation.reports.serializers import UsageQuery, UsageSerializer
from validation.reports.usage_stats import UsageStats, add_sources, by_interval

DEFAULT_DAYS, MAX_DAYS = 30, 366


class UsageView(ApiView):
    first: date
    last: date
    key: ApiKey | None
    sources: list[Source]

    def prepare(self) -> None:
        chosen = UsageQuery.parse_query(self.request)
        self.last = chosen.get("to") or timezone.now().date()
        self.first = chosen.get("from") or self.last - timedelta(days=DEFAULT_DAYS - 1)
        if self.first > self.last:
            raise invalid_field("from", "from must not be after to.")
        if (self.last - self.first).days >= MAX_DAYS:
            raise invalid_field(
                "from", f"Usage is limited to {MAX_DAYS} days. Choose a shorter range."
            )
        self.sources = [Source(chosen["source"])] if "source" in chosen else list(Source)
        self.key = None
        if "key" in chosen:
            keys = self.request.call.key.account.api_keys
            self.key = keys.filter(public_id=chosen["key"].replace("\0", "")).first()
            if self.key is None:
                message = "There is no key with this id in your account. Ids start with key_."
                raise invalid_field("key", message)

    @describe(
        "show-usage",
        "Get usage",
        "Returns validations, verdicts and credits per day and by source. Days are in UTC.",
        UsageSerializer,
        tag="Account",
        parameters=[UsageQuery],
        scope="usage:read",
    )
    def get(self, request: ApiRequest) -> ApiResponse:
        date_range = DateRange(Unit.DAY, midnight(self.first), midnight(self.last) + DAY)
        key_filter = {"key": self.key} if self.key else {}
        stats = by_interval(request.call.key.account, date_range, **key_filter)
        by_source = zip(*stats.values(), strict=True)
        days = [
            {
                "date": f"{day.of}",
                **_counts(day),
                **day.calls,
                "by_source": {
                    source.value: _counts(part) for source, part in zip(stats, parts, strict=True)
                },
            }
            for day, parts in zip(add_sources(stats, self.sources), by_source, strict=True)
        ]
        return json_response({"from": f"{self.first}", "to": f"{self.last}", "days": days})


def _counts(stats: UsageStats) -> dict[str, int]:
    return {"requests": stats.requests, "credits": stats.credits}
