"""The sentences about lists."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.utils import timezone

from apikeys.errors import ApiError
from credits.models import Hold, Pack, Wallet
from engine import MEANINGS
from lists.files.columns import FileColumn
from lists.models import AddressList, ListSample
from lists.models.states import ListState
from lists.presenters.file_preview import FilePreview
from lists.presenters.list_page import ListPage, ListRow
from lists.presenters.reasons import describe_reasons
from lists.presenters.sentences import (
    deletion_consequences,
    describe_deletion,
    describe_progress,
    describe_refusal,
    describe_speed,
    describe_state,
    name_download,
)
from lists.previews import FileFacts, StoredPreview
from lists.results.downloads import DownloadFormat
from lists.results.reading import ResultFilter

LIST_ID = "lst_4Fq8ZnWcR2tKvYx6BdJm"
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def make(state: ListState = ListState.RUNNING, **fields: object) -> AddressList:
    return AddressList(public_id=LIST_ID, name="customers.csv", state=state, **fields)


def hold(charged: int, remaining: int) -> Hold:
    return Hold(
        amount=charged + remaining, charged=charged, remaining=remaining, source=f"list:{LIST_ID}"
    )


@pytest.mark.parametrize("state", ListState)
def test_every_state_has_a_badge_and_a_sentence(state: ListState) -> None:
    address_list = make(state, error_message="The file is damaged.")
    assert ListRow(address_list).badge.text
    assert describe_state(address_list).endswith(".")


@pytest.mark.parametrize(
    ("state", "starts", "phase", "moving"),
    [
        (ListState.READY, False, "ready", False),
        (ListState.READY, True, "parsing", True),
        (ListState.PARSING, True, "parsing", True),
        (ListState.PAUSED, False, "paused", False),
        (ListState.COMPLETED, False, "completed", False),
    ],
)
def test_parsed_list_that_starts_automatically_is_still_moving(
    state: ListState, starts: bool, phase: str, moving: bool
) -> None:
    address_list = make(state, addresses=1, starts_when_ready=starts)
    assert (address_list.phase, address_list.is_changing) == (phase, moving)
    assert (ListRow(address_list).badge.text == "Ready to start") is (phase == "ready")


def test_ended_states_name_the_day() -> None:
    ended = {"finished_at": NOW, "expires_at": NOW, "rows": 1}
    assert describe_state(make(ListState.COMPLETED, **ended)) == "Completed on 23 Nov 2026."
    canceled = describe_state(make(ListState.CANCELED, **ended))
    assert canceled == "Canceled on 23 Nov 2026. Its unused credits were released."
    expired = describe_state(make(ListState.EXPIRED, **ended))
    assert expired == "The results were deleted on 23 Nov 2026. The counts stay."
    assert describe_deletion(make(ListState.EXPIRED, **ended)) == ""
    deletion = describe_deletion(make(ListState.COMPLETED, **ended))
    assert deletion == "Its rows and results are deleted on 23 Nov 2026."
    ready = describe_deletion(make(ListState.READY, **ended))
    assert ready == "If it isn't started, its rows are deleted on 23 Nov 2026."


def test_paused_list_says_why_and_until_when() -> None:
    by_member = describe_state(make(ListState.PAUSED, paused_at=NOW))
    end = "If it isn't resumed by 23 Dec 2026, it's canceled."
    assert by_member == f"Resume the list to check the rest. {end}"
    by_us = describe_state(
        make(ListState.PAUSED, paused_at=NOW, error_message="Held credits ended.")
    )
    assert by_us == f"Held credits ended. {end}"


def test_progress_counts_domains_before_addresses() -> None:
    assert describe_progress(make(addresses=1, started_at=NOW)) == "0 of 1 address checked"
    found = make(domains=4_300, addresses=12_000, started_at=NOW)
    found.domains_looked_up = 1_200
    assert describe_progress(found) == "1,200 of 4,300 domains looked up"
    found.checked = 1_900
    assert describe_progress(found) == "1,900 of 12,000 addresses checked"


def test_progress_of_reading_is_in_rows() -> None:
    assert describe_progress(make(ListState.PARSING)) == ""
    assert describe_progress(make(ListState.PARSING, rows=12_000)) == "12,000 rows read"
    reading = ListPage(make(ListState.PARSING, rows=12_000), Wallet(), may_act=True)
    assert reading.tiles == []


@pytest.mark.parametrize(
    ("work", "checked", "text"),
    [
        (0, 0, ""),
        (50_000, 5_000, "5,000 addresses per second. Done in less than a minute."),
        (10, 100, "1 address per second. Done in about 3 hours."),
        (500, 5_000, "50 addresses per second. Done in about 2 minutes."),
        (1, 10, "6 addresses per minute. Done in about 28 hours."),
        (1_000, 0, "10 domains per second. Done in about 3 minutes."),
    ],
)
def test_speed_is_that_of_the_last_marks(work: int, checked: int, text: str) -> None:
    now = timezone.now().timestamp()
    address_list = make(
        addresses=10_000,
        domains=1_000,
        checked=checked,
        progress_marks=[[now - 11, 0], [now - 1, work]],
    )
    assert describe_speed(address_list) == text


def test_shares_fill_the_bar() -> None:
    row = ListRow(make(checked=8, deliverable=5, risky=1, undeliverable=2))
    assert [(share.start, share.percent) for share in row.shares] == [
        (0, 62.5),
        (62.5, 12.5),
        (75, 25),
        (100, 0),
    ]
    assert row.shares_text.startswith("62.5% deliverable, 12.5% risky")
    assert ListRow(make()).shares == []


def test_row_shows_the_charge_of_a_started_list() -> None:
    assert ListRow(make(started_at=NOW, hold=hold(1, 2))).charged == 1
    assert ListRow(make(ListState.READY, rows=5)).charged is None


def test_deletion_names_what_is_lost_and_what_returns() -> None:
    running = deletion_consequences([make(hold=hold(3, 1))])
    assert running == [
        "This erases its file and all results. You can't undo this.",
        "Checks that aren't done are canceled.",
        "1 credit held for the list returns to your balance.",
        "Credits for addresses that were checked aren't refunded.",
    ]
    assert len(deletion_consequences([make(ListState.EXPIRED)])) == 1


def preview(
    first_rows: list[list[str]], guessed: int | None = 1, balance: int = 10, **fields: object
) -> FilePreview:
    columns = [FileColumn(0, "", 2, 0), FileColumn(1, "email", 2, 2)]
    file = FileFacts("text", "utf-8", ",", True, ["", "email"])
    stored = StoredPreview(
        file, columns, guessed, first_rows, 200, 3, 100, 1, [("shop.example", 7)]
    )
    return FilePreview(make(ListState.READY, column=0, **fields), Wallet(balance=balance), stored)


def test_short_and_erased_rows_are_filled_up() -> None:
    rows = preview([["1", "a@shop.example"], ["2"], []]).first_rows
    assert rows == [["1", "a@shop.example"], ["2", ""], ["", ""]]


def test_column_is_chosen_by_its_name() -> None:
    fitting = preview([], addresses=1)
    assert fitting.column_advice == (
        "We check the column “Column 1”. To check another one, click its name."
    )
    assert fitting.chosen_column == 0
    fitting.address_list.column = 250
    assert "“Column 251”" in fitting.column_advice
    empty = preview([], addresses=0)
    assert empty.column_advice == "No cell in this column is an address. Choose another column."
    assert describe_state(empty.address_list) == (
        "The chosen column has no addresses. Nothing was charged."
    )
    unclear = preview([], guessed=None, addresses=0)
    assert unclear.column_advice == (
        "No column looks like addresses. Choose the right one, or upload another file."
    )
    assert unclear.chosen_column is None
    assert ListRow(unclear.address_list).badge.text == "Choose a column"


@pytest.mark.parametrize(
    ("name", "wanted", "file_format", "downloaded"),
    [
        ("Customers.CSV", ResultFilter.ALL, DownloadFormat.CSV, "Customers-results.csv"),
        ("Spring 1.5", ResultFilter.SAFE, DownloadFormat.CSV, "Spring 1.5-safe.csv"),
        ("a.xlsx", ResultFilter.RISKY, DownloadFormat.JSON_LINES, "a-risky.jsonl"),
    ],
)
def test_download_has_the_name_of_the_list(
    name: str, wanted: ResultFilter, file_format: DownloadFormat, downloaded: str
) -> None:
    assert name_download(AddressList(name=name), wanted, file_format) == downloaded


@pytest.mark.django_db
def test_smallest_pack_that_covers_the_missing_credits_is_offered() -> None:
    assert preview([], addresses=10, balance=10).missing_credits == 0
    short = preview([], addresses=1_011, balance=10)
    assert short.missing_credits == 1_001
    assert short.pack == Pack.objects.get(credits=10_000)
    beyond = preview([], addresses=9_000_000, balance=10)
    assert beyond.pack == Pack.objects.get(credits=1_000_000)
    in_debt = FilePreview(make(addresses=5), Wallet(debt=7), beyond.stored)
    assert in_debt.missing_credits == 12


def test_confirmation_is_asked_for_if_most_cells_or_the_encoding_may_be_wrong() -> None:
    right = preview([], rows=4, not_address=2)
    assert right.confirmation == ""
    wrong = preview([], rows=4, not_address=3)
    assert wrong.confirmation == "Start, although 3 cells aren't addresses"
    unsure = preview([], rows=4, encoding="")
    file = replace(unsure.stored.file, encoding_confidence="unsure")
    unsure = replace(unsure, stored=replace(unsure.stored, file=file))
    assert unsure.confirmation == "Start, although we aren't sure about the file's encoding"
    unsure.address_list.encoding = "cp1252"
    assert unsure.confirmation == ""


def test_small_lists_have_no_shares() -> None:
    large = preview([], addresses=100)
    assert large.kinds[0] == ("Disposable domains", "1.5%")
    assert large.top_domains == [("shop.example", 7)]
    small = preview([], addresses=99)
    assert (small.kinds, small.top_domains) == ([], [])


def test_tiles_add_up_to_the_rows() -> None:
    counts = {"rows": 12, "duplicates": 2, "empty": 1, "not_address": 3, "bad_syntax": 1}
    page = ListPage(make(ListState.READY, addresses=6, **counts), Wallet(), may_act=True)
    assert [(tile.label, tile.value, tile.note) for tile in page.tiles] == [
        ("Rows", 12, ""),
        ("Addresses", 6, "1 with invalid syntax"),
        ("Duplicates", 2, "Free"),
        ("Without an address", 4, "Free: 1 empty, 3 other text"),
    ]


def test_reasons_have_advice_and_the_most_frequent_one_comes_first() -> None:
    rows = describe_reasons(make(reasons={"null_mx": 3, "possible_typo": 361}))
    assert [row[:2] for row in rows] == [("risky", 361), ("undeliverable", 3)]
    assert "suggestion" in rows[0][3]
    assert rows[1][3] == "Remove them. They would bounce."
    rows = describe_reasons(make(reasons=dict.fromkeys(MEANINGS, 1)))
    assert len(rows) == len(MEANINGS)
    assert not [row for row in rows if "`" in row[2] + row[3]]


def test_frequent_typos_come_first() -> None:
    typos = {
        "yaho.com": {"count": 2, "suggestion": "yahoo.com"},
        "gmial.com": {"count": 361, "suggestion": "gmail.com"},
    }
    page = ListPage(make(typos=typos), Wallet(), may_act=True)
    assert page.typos[0] == ("gmial.com", "gmail.com", 361)


def test_only_rows_that_exist_are_offered_for_download() -> None:
    results = {"rows": 9, "checked": 8, "deliverable": 5, "undeliverable": 3}
    page = ListPage(make(ListState.COMPLETED, **results), Wallet(), may_act=True)
    assert page.download_filters == [
        ("all", "All rows", 9),
        ("deliverable", "Deliverable", 5),
        ("undeliverable", "Undeliverable", 3),
    ]
    safe = ListPage(make(ListState.COMPLETED, safe=2, **results), Wallet(), may_act=True)
    assert ("safe", "Safe to send", 2) in safe.download_filters


def page_of(sample: ListSample | None, addresses: int) -> ListPage:
    address_list = make(ListState.READY, addresses=addresses)
    return ListPage(address_list, Wallet(), may_act=True, sample=sample)


def test_sample_is_offered_for_large_lists_only() -> None:
    offer = page_of(None, 2_000).sample_offer
    assert offer.startswith("Check 200 random addresses for free")
    small = page_of(None, 1_999)
    assert (small.sample_offer, small.sample_shares) == ("", [])


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ApiError("too_many_lists", "You have 20 unfinished lists."), "20 unfinished lists."),
        (ApiError("invalid_state"), "The list has changed."),
        (ApiError("insufficient_credits", "Raise `max_credits`."), "Buy credits, then try again."),
        (ApiError("internal_error"), "."),
    ],
)
def test_refusal_is_in_the_words_of_the_pages(error: ApiError, text: str) -> None:
    assert text in describe_refusal(error)
    assert "`" not in describe_refusal(error)


@pytest.mark.parametrize(
    ("state", "key_id", "may_act", "expected"),
    [
        (ListState.UPLOADING, None, True, True),
        (ListState.UPLOADING, None, False, False),
        (ListState.UPLOADING, 1, True, False),
        (ListState.PARSING, None, True, False),
    ],
)
def test_upload_from_the_dashboard_can_continue(
    state: ListState, key_id: int | None, may_act: bool, expected: bool
) -> None:
    page = ListPage(make(state, key_id=key_id), Wallet(), may_act=may_act)
    assert page.may_continue_upload is expected
