"""Time zones of the usage page, and how long requests are stored."""

from zoneinfo import ZoneInfo

from accounts.models import Account
from validation.erasure import ErasureCount
from validation.presenters.retention import describe_stored_results, erasure_summary
from validation.presenters.usage import interval_heading
from validation.reports.date_ranges import Unit

KOLKATA = ZoneInfo("Asia/Kolkata")


def test_heading_of_intervals_names_the_time_zone() -> None:
    assert interval_heading(Unit.HOUR, KOLKATA) == "Hour (Asia/Kolkata)"
    assert interval_heading(Unit.DAY, KOLKATA) == "Day (UTC)"
    assert interval_heading(Unit.MONTH, KOLKATA) == "Month (UTC)"


def test_erasure_says_where_the_address_is() -> None:
    account = Account(name="The Shop")
    found = erasure_summary(account, ErasureCount(2, 1, 0))
    assert found == "This deletes 2 requests and 1 stored response."
    found = erasure_summary(account, ErasureCount(2, 1, 1))
    assert found == "This deletes 2 requests, 1 stored response, and its rows in 1 list."
    nothing = erasure_summary(account, ErasureCount(0, 0, 0))
    assert nothing == "The Shop has no data about this address."


def test_landing_page_says_how_long_full_addresses_are_stored() -> None:
    lists = "Lists are stored encrypted for 30 days, or until you delete them."
    assert describe_stored_results(24, 30) == (
        f"Full results are stored encrypted for 24 hours. {lists}"
    )
    assert describe_stored_results(0, 30) == lists
