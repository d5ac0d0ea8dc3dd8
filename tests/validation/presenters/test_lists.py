"""The sentences about lists."""

from datetime import UTC, datetime, timedelta

import pytest

from apikeys.errors import ApiError
from credits.models import Hold, Wallet
from credits.plans.list_limits import ListLimits
from validation.lists.results.downloads import DownloadFormat
from validation.lists.results.reading import ResultFilter
from validation.lists.uploads.previews import ColumnFacts, FileFacts, StoredPreview
from validation.models import AddressList, ListSample
from validation.models.list_states import State
from validation.presenters.list_pages import (
    ListPage,
    describe_limits,
    describe_refusal,
    describe_size_limit,
)
from validation.presenters.list_previews import ListPreview, Sample, SampleShare
from validation.presenters.lists import (
    ListRow,
    deletion_consequences,
    describe_deletion,
    describe_progress,
    describe_shares,
    describe_speed,
    describe_state,
    find_shares,
    is_moving,
    list_phase,
    name_download,
    state_badge,
)

LIST_ID = "lst_4Fq8ZnWcR2tKvYx6BdJm"
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def make(state: State = State.RUNNING, **fields: object) -> AddressList:
    return AddressList(public_id=LIST_ID, name="customers.csv", state=state, **fields)


def hold(charged: int, remaining: int) -> Hold:
    return Hold(
        amount=charged + remaining,
        charged=charged,
        remaining=remaining,
        source=f"list:{LIST_ID}",
    )


@pytest.mark.parametrize("state", State)
def test_every_state_has_a_badge_and_a_sentence(state: State) -> None:
    address_list = make(state, error_message="The file is damaged.")
    assert state_badge(address_list).text
    assert describe_state(address_list).endswith(".")


@pytest.mark.parametrize(
    ("state", "starts", "phase", "moving"),
    [
        (State.READY, False, "ready", False),
        (State.READY, True, "starting", True),
        (State.PARSING, True, "parsing", True),
        (State.PAUSED, False, "paused", False),
        (State.COMPLETED, False, "completed", False),
    ],
)
def test_parsed_list_that_starts_automatically_is_still_moving(
    state: State, starts: bool, phase: str, moving: bool
) -> None:
    address_list = make(state, starts_when_ready=starts)
    assert (list_phase(address_list), is_moving(address_list)) == (phase, moving)


def test_ended_states_name_the_day() -> None:
    ended = {"finished_at": NOW, "expires_at": NOW, "rows": 1}
    assert describe_state(make(State.COMPLETED, **ended)) == "Completed on 23 Nov 2026."
    canceled = describe_state(make(State.CANCELED, **ended))
    assert canceled == "Canceled on 23 Nov 2026. Its unused credits were released."
    expired = describe_state(make(State.EXPIRED, **ended))
    assert expired == "The results were deleted on 23 Nov 2026. The counts stay."
    assert describe_deletion(make(State.EXPIRED, **ended)) == ""
    deletion = describe_deletion(make(State.COMPLETED, **ended))
    assert deletion == "Its rows and results are deleted on 23 Nov 2026."
    ready = describe_deletion(make(State.READY, **ended))
    assert ready == "If it isn't started, its rows are deleted on 23 Nov 2026."


def test_paused_list_says_why_and_until_when() -> None:
    by_member = describe_state(make(State.PAUSED, paused_at=NOW))
    end = "If it isn't resumed by 23 Dec 2026, it's canceled."
    assert by_member == f"Resume the list to check the rest. {end}"
    by_us = describe_state(make(State.PAUSED, paused_at=NOW, error_message="Held credits ended."))
    assert by_us == f"Held credits ended. {end}"


def test_failed_list_says_what_happened() -> None:
    assert describe_state(make(State.FAILED, error_message="It is a PDF.")) == "It is a PDF."


@pytest.mark.parametrize(
    ("checked", "addresses", "text"),
    [
        (0, 1, "0 of 1 address checked"),
        (1_900, 12_000, "1,900 of 12,000 addresses checked"),
    ],
)
def test_progress(checked: int, addresses: int, text: str) -> None:
    assert describe_progress(make(checked=checked, addresses=addresses)) == text


@pytest.mark.parametrize(
    ("seconds", "checked", "text"),
    [
        (10, 0, ""),
        (1, 5_000, "5,000 addresses per second on average. Done in less than a minute."),
        (100, 100, "1 address per second on average. Done in about 3 hours."),
        (100, 5_000, "50 addresses per second on average. Done in about 2 minutes."),
        (600, 10, "1 address per minute on average. Done in about 166 hours."),
    ],
)
def test_speed_is_that_since_the_start(seconds: int, checked: int, text: str) -> None:
    started_at = NOW - timedelta(seconds=seconds)
    address_list = make(addresses=10_000, checked=checked, started_at=started_at)
    assert describe_speed(address_list, NOW) == text


def test_recheck_says_when_it_is_next() -> None:
    address_list = make(State.RECHECKING, recheck_at=NOW + timedelta(minutes=9))
    assert (
        describe_speed(address_list, NOW) == "Next check of unknown addresses in about 9 minutes."
    )


def test_shares_fill_the_bar() -> None:
    address_list = make(checked=8, deliverable=5, risky=1, undeliverable=2)
    shares = find_shares(address_list)
    assert [(share.start, share.percent) for share in shares] == [
        (0, 62.5),
        (62.5, 12.5),
        (75, 25),
        (100, 0),
    ]
    assert describe_shares(shares).startswith("62.5% deliverable, 12.5% risky")
    assert find_shares(make()) == []


def test_row_has_a_meter_only_while_the_list_is_in_progress() -> None:
    counts = {"rows": 1, "addresses": 3, "checked": 1, "started_at": NOW, "hold": hold(1, 2)}
    row = ListRow(make(State.PAUSED, **counts))
    assert row.meter == 33
    assert row.rows is not None
    assert row.charged is not None
    assert (row.rows.number, row.rows.unit) == ("1", "row")
    assert (row.charged.number, row.charged.unit) == ("1", "credit")
    assert ListRow(make(State.COMPLETED, **counts)).meter is None
    assert ListRow(make(State.PARSING)).rows is None
    assert ListRow(make(State.READY, rows=5)).charged is None


def test_deletion_names_what_is_lost_and_what_returns() -> None:
    running = deletion_consequences(make(hold=hold(3, 1)))
    assert running == [
        "This erases its file and all results. You can't undo this.",
        "Checks that aren't done are canceled.",
        "1 credit held for the list returns to your balance.",
        "Credits for addresses that were checked aren't refunded.",
    ]
    assert len(deletion_consequences(make(State.EXPIRED))) == 1


def preview(
    first_rows: list[list[str]], guessed: int | None = 1, balance: int = 10, **fields: object
) -> ListPreview:
    columns = [
        ColumnFacts(0, "", 2, 0, "0% of 2 cells are addresses"),
        ColumnFacts(1, "email", 2, 2, "100% of 2 cells are addresses"),
    ]
    file = FileFacts("text", "utf-8", False, ",", True, ["", "email"])
    stored = StoredPreview(
        file, columns, guessed, first_rows, 200, 3, 100, 1, [("shop.example", 7)]
    )
    return ListPreview(make(State.READY, column=0, **fields), Wallet(balance=balance), stored)


def test_columns_without_a_name_have_a_number() -> None:
    columns = preview([["1", "a@shop.example"], ["2"], []]).columns
    assert [column.name for column in columns] == ["Column 1", "email"]
    assert [column.is_chosen for column in columns] == [True, False]
    assert [column.is_guess for column in columns] == [False, True]


def test_short_and_erased_rows_are_filled_up() -> None:
    rows = preview([["1", "a@shop.example"], ["2"], []]).first_rows
    assert [[cell.text for cell in row] for row in rows] == [
        ["1", "a@shop.example"],
        ["2", ""],
        ["", ""],
    ]


def test_guess_has_its_evidence() -> None:
    assert preview([]).guess == "Our guess is email: 100% of 2 cells are addresses."
    assert preview([], guessed=None).guess.startswith("No column looks like addresses.")


def test_column_without_addresses_says_what_to_do() -> None:
    rows = [["1", "a@shop.example"]]
    assert preview(rows, addresses=1).no_addresses == ""
    assert preview(rows, addresses=0).no_addresses == (
        "No cell in this column is an address. Choose another column below, or upload another file."
    )
    alone = preview([["1"]], addresses=0)
    assert alone.no_addresses == "No cell is an address. Upload another file."
    assert describe_state(alone.address_list) == (
        "The chosen column has no addresses. Nothing was charged."
    )


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


def test_price_is_the_most_that_the_list_can_cost() -> None:
    affordable = preview([], addresses=10, balance=10)
    assert affordable.price == (
        "At most 10 credits. Unknown results and duplicates are free. Your balance is 10 credits."
    )
    assert affordable.missing_credits == ""
    assert preview([], addresses=11, balance=10).missing_credits == "You need 1 more credit."
    assert preview([], addresses=0).price == ""


def test_confirmation_is_asked_for_if_most_cells_are_no_addresses() -> None:
    right = preview([], rows=4, not_address=2)
    assert right.confirmation == ""
    wrong = preview([], rows=4, not_address=3)
    assert wrong.confirmation == "Start, although 3 cells in this column aren't addresses"


def test_small_lists_have_no_shares() -> None:
    large = preview([], addresses=100)
    assert large.kinds[0] == ("Disposable domains", "1.5%")
    assert large.top_domains == [("shop.example", 7)]
    small = preview([], addresses=99)
    assert (small.kinds, small.top_domains) == ([], [])


def test_sample_is_offered_for_large_lists_only() -> None:
    offer = Sample.of(make(State.READY, addresses=2_000), None).offer
    assert offer.startswith("Check 200 random addresses for free")
    assert Sample.of(make(State.READY, addresses=1_999), None) == Sample("", [])


def test_taken_sample_has_shares_with_their_intervals() -> None:
    taken = ListSample(deliverable=150, risky=50, is_done=True)
    sample = Sample.of(make(State.READY, addresses=2_000), taken)
    assert sample.offer == ""
    assert sample.shares[0] == SampleShare("deliverable", "75.0%", "69% to 80%")
    assert sample.shares[3] == SampleShare("unknown", "0.0%", "0% to 2%")


def test_reader_gets_no_preview() -> None:
    stored = preview([["a@shop.example"]]).stored.pack()
    address_list = make(State.READY, preview=stored)
    assert ListPage(address_list, Wallet(), NOW, may_act=True).preview is not None
    assert ListPage(address_list, Wallet(), NOW, may_act=False).preview is None


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
        (State.UPLOADING, None, True, True),
        (State.UPLOADING, None, False, False),
        (State.UPLOADING, 1, True, False),
        (State.PARSING, None, True, False),
    ],
)
def test_upload_from_the_dashboard_can_continue(
    state: State, key_id: int | None, may_act: bool, expected: bool
) -> None:
    page = ListPage(make(state, key_id=key_id), Wallet(), NOW, may_act=may_act)
    assert page.may_continue_upload is expected


def test_size_limit_says_what_to_do() -> None:
    assert describe_size_limit(ListLimits(10_000, 10 << 20)) == (
        "The file is larger than 10 MB, your plan's limit. Split the file, or upgrade your plan."
    )


def test_limits_of_the_plan() -> None:
    assert describe_limits(ListLimits(10_000, 10 << 20)) == (
        "Your plan allows lists of up to 10,000 addresses, and 10 MB in unfinished lists."
    )
