import re
from contextlib import suppress
from datetime import date

from drf_spectacular.utils import extend_schema_field

from apikeys.rest import fields
from apikeys.rest.serializers import ApiSerializer
from credits.models.usage import Source

_DATE = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}")


@extend_schema_field({"type": "string", "format": "date", "pattern": f"^{_DATE.pattern}$"})
class Day(fields.Date):
    def parse_text(self, text: str) -> date:
        with suppress(ValueError):
            if _DATE.fullmatch(text):
                return date.fromisoformat(text)
        raise fields.InvalidValue("must be a date such as 2026-11-20.")


class UsageQuery(ApiSerializer):
    # `from` is a Python keyword.
    vars()["from"] = Day(
        "First day. Defaults to 29 days before `to`", example=("The first of a month", "2026-11-01")
    )
    to = Day("Last day. Defaults to today", example=("The last of a month", "2026-11-30"))
    key = fields.String(
        "ID of an API key (`key_…`), to return only its usage",
        example=("One key", "key_5Hc9TfWnQ3sEvXy7BgMk"),
    )
    # REST framework's fields have an attribute `source`.
    vars()["source"] = fields.Choice(
        "`api` returns only requests with a key, `playground` only those in the dashboard, and "
        "`lists` only the addresses of lists. Defaults to all",
        Source,
        example=("Without lists", "api"),
    )


class SourceUsageSerializer(ApiSerializer):
    requests = fields.Count("Number of validations")
    credits = fields.Count("Credits charged")


class UsageBySourceSerializer(ApiSerializer):
    api = SourceUsageSerializer(help_text="Requests with an API key")
    playground = SourceUsageSerializer(help_text="Requests in the dashboard's playground")
    lists = SourceUsageSerializer(help_text="Addresses of lists, however they were started")


class UsageDaySerializer(ApiSerializer):
    date = fields.Date("The day, in UTC")
    requests = fields.Count(
        "Number of validations, without sandbox and replayed ones. Each address of a list is one"
    )
    credits = fields.Count("Credits charged")
    deliverable = fields.Count("Number of deliverable results")
    risky = fields.Count("Number of risky results")
    undeliverable = fields.Count("Number of undeliverable results")
    unknown = fields.Count("Number of unknown results, which are free")
    by_source = UsageBySourceSerializer(
        help_text="All usage of the day by source, also if you set `source`"
    )


class UsageSerializer(ApiSerializer):
    # `from` is a Python keyword.
    vars()["from"] = fields.Date("The first day")
    to = fields.Date("The last day")
    days = UsageDaySerializer(
        many=True, help_text="One entry per day, including days without usage"
    )

    examples = {
        "One day": {
            "from": "2026-11-20",
            "to": "2026-11-20",
            "days": [
                {
                    "date": "2026-11-20",
                    "requests": 812,
                    "credits": 789,
                    "deliverable": 640,
                    "risky": 88,
                    "undeliverable": 61,
                    "unknown": 23,
                    "by_source": {
                        "api": {"requests": 306, "credits": 299},
                        "playground": {"requests": 6, "credits": 6},
                        "lists": {"requests": 500, "credits": 484},
                    },
                }
            ],
        }
    }
