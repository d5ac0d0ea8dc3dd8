"""The playground for several addresses: a batch of the API, sent from the dashboard."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from accounts.models import Account
from credits.models import UseHour, Wallet
from credits.wallet.books import find_discrepancies
from tests.support.api_client import ApiClient
from tests.validation.reports.usage_data import read_page
from validation.models import LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE = "/validation/playground/batch/"
# Definite verdicts without DNS: 1 credit each.
WRONG = ["address 1", "address 2", "address 3"]


def submit(browser: Client, text: str) -> str:
    """Return the page, without the colors of its code."""
    response = browser.post(PAGE, {"emails": text})
    assert response.status_code == 200
    return re.sub(r"</?span[^>]*>", "", read_page(response))


def textarea(page: str) -> str:
    match = re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert match
    return unescape(match[1])


def rows(page: str) -> list[list[str]]:
    """Return the text of each cell of the results."""
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in body.split("</tr>")[:-1]]
    return [[" ".join(re.sub("<[^>]*>", "", cell).split()) for cell in row] for row in cells]


def balance_of(account: Account) -> int:
    return Wallet.objects.get(account=account).balance


def test_batch_is_charged_and_recorded_without_a_key(browser: Client, account: Account) -> None:
    page = submit(browser, "\n".join(WRONG))
    assert "3 addresses validated" in page
    assert "3 credits, 97 left" in page
    assert "X-Credits-Cost: 3" in page
    assert balance_of(account) == 97
    assert UseHour.objects.filter(account=account, key=None).credits() == 3
    entries = LogEntry.objects.filter(account=account)
    assert {(entry.key, entry.path, entry.cost) for entry in entries} == {
        (None, "/v1/validate/batch", 1)
    }
    (batch_id,) = {entry.batch_id for entry in entries}
    assert f'href="/validation/requests/?batch={batch_id}"' in page
    assert not list(find_discrepancies())


def test_row_says_the_verdict_and_what_to_make_of_it(browser: Client) -> None:
    page = submit(browser, "deliverable@sandbox.test\nunknown@sandbox.test\nno address")
    assert rows(page) == [
        [
            *("1", "deliverable@sandbox.test", "deliverable"),
            *("The mail host accepts mail for this mailbox.", "100", "Yes", "Accept"),
        ],
        [
            *("2", "unknown@sandbox.test", "unknown"),
            *("DNS didn't respond in time.", "None", "Not checked", "Accept"),
        ],
        [
            *("3", "no address", "undeliverable"),
            *("An address needs an @ between the mailbox and the domain.", "0", "No", "Reject"),
        ],
    ]


def test_suggestion_is_next_to_the_reason(browser: Client) -> None:
    ((_, _, _, reason, *_),) = rows(submit(browser, "possible_typo@sandbox.test"))
    assert reason.startswith("Looks like a typo of mailbox.test.")
    assert reason.endswith("Did you mean possible_typo@mailbox.test?")


def test_spaces_and_empty_lines_are_removed(browser: Client, account: Account) -> None:
    page = submit(browser, " address 1\t\r\n\r\n   \r\n\xa0address 2 \r\n")
    assert [(row[0], row[1]) for row in rows(page)] == [("1", "address 1"), ("4", "address 2")]
    assert balance_of(account) == 98


def test_summary_counts_distinct_addresses_by_verdict(browser: Client) -> None:
    page = submit(
        browser, "risky@sandbox.test\nrisky@sandbox.test\nno address\nunknown@sandbox.test"
    )
    shares = page.partition('<ul class="shares">')[2].partition("</ul>")[0]
    counts = re.findall(r'aria-label="(\w+)"[^>]*></progress> ([\d.]+)% (\d+)', shares)
    assert counts == [
        ("deliverable", "0.0", "0"),
        ("risky", "33.3", "1"),
        ("undeliverable", "33.3", "1"),
        ("unknown", "33.3", "1"),
    ]


def test_row_opens_the_request_in_the_request_log(browser: Client) -> None:
    page = submit(browser, "address 1\naddress 2\naddress 1")
    links = re.findall(r'class="two-line-link" href="([^"]+)"', page)
    assert len(links) == 3
    assert links[0] == links[2] != links[1]
    assert browser.get(links[0]).status_code == 200


def test_without_a_request_log_results_have_no_links(browser: Client, account: Account) -> None:
    Account.objects.filter(pk=account.pk).update(log_days=0)
    page = submit(browser, "\n".join(WRONG))
    assert len(rows(page)) == 3
    assert "two-line-link" not in page
    assert "Show these requests" not in page


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "\n".join(f"address {number}" for number in range(101)),
            "You entered 101 addresses, and a batch has at most 100. Split them into several",
        ),
        (f"address 1\n\n{'a' * 321}", "Line 3 has 321 characters, and an address has at most 320."),
        (" \n\n ", "Enter at least one address."),
        ("", "Enter at least one address."),
        ("address\0", "Null characters are not allowed."),
    ],
    ids=["101 lines", "long line", "blank", "empty", "null"],
)
def test_wrong_text_is_explained_and_remains_in_the_field(
    browser: Client, caller: ApiClient, account: Account, text: str, message: str
) -> None:
    response = browser.post(PAGE, {"emails": text})
    page = unescape(response.content.decode())
    assert message in page
    assert textarea(page).removeprefix("\n") == text
    assert balance_of(account) == 100
    assert caller.get("/v1/me").headers["X-RateLimit-Remaining"] == "59"


def test_button_with_sandbox_addresses_takes_precedence_over_the_text(browser: Client) -> None:
    button = re.search(r'name="emails" value="([^"]+)"', browser.get(PAGE).content.decode())
    assert button
    response: Any = browser.post(PAGE, {"emails": ["address 1", unescape(button[1])]})
    page = read_page(response)
    assert {row[1].rpartition("@")[2] for row in rows(page)} == {"sandbox.test"}
    assert "0 credits, 100 left" in page


@pytest.mark.parametrize(("limit", "is_shown"), [(60, True), (99, True), (100, False)])
def test_lower_rate_limit_is_explained(
    browser: Client, account: Account, limit: int, is_shown: bool
) -> None:
    Account.objects.filter(pk=account.pk).update(requests_per_minute=limit)
    page = " ".join(read_page(browser.get(PAGE)).split())
    assert (f"So a batch can have up to {limit} addresses." in page) is is_shown
