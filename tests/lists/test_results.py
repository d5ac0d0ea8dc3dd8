"""Rows with their results: duplicates, filters and pages."""

import tracemalloc

import pytest

from accounts.models import Account
from lists.models import AddressList, ListChunk
from lists.results import reading
from lists.results.reading import ResultFilter, ResultRow, find_page, iterate_results
from tests.lists.results_factory import make_list, make_ready_list, store_results

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def read(address_list: AddressList, wanted: str = "all") -> list[ResultRow]:
    return list(iterate_results(address_list, ResultFilter(wanted)))


def numbers(address_list: AddressList, wanted: str) -> list[int]:
    return [row.number for row in read(address_list, wanted)]


def many_rows(count: int) -> bytes:
    return b"".join(b"deliverable+%d@sandbox.test\n" % number for number in range(count))


def test_duplicate_of_a_row_in_another_chunk_has_its_result(account: Account) -> None:
    content = many_rows(2_500) + b"deliverable+7@sandbox.test\nrisky@sandbox.test\n"
    address_list = make_list(account, content + b"deliverable+1900@sandbox.test\n")
    last = read(address_list)[2_500:]
    assert [row.duplicate_of for row in last] == [8, None, 1901]
    emails = [row.result and row.result["email"] for row in last]
    assert emails == [
        *("deliverable+7@sandbox.test", "risky@sandbox.test", "deliverable+1900@sandbox.test")
    ]
    assert find_page(address_list, ResultFilter.ALL, after=2_501, limit=5).rows == last[1:]


def test_filter_selects_rows_by_verdict(account: Account) -> None:
    address_list = make_list(account)
    for wanted, expected in {
        "all": [1, 2, 3, 4, 5, 6, 7],
        "deliverable": [1, 5],
        "safe": [1, 5],
        "risky": [2],
        "undeliverable": [7],
        "unknown": [6],
    }.items():
        assert numbers(address_list, wanted) == expected, wanted


def test_chunks_that_were_not_checked_have_rows_without_results(account: Account) -> None:
    # The last row is a duplicate of one that was not checked.
    address_list = make_ready_list(account, many_rows(1_500) + b"deliverable+1@sandbox.test\n")
    store_results(address_list, ListChunk.objects.get(list=address_list, first_row=1_000))
    rows = read(address_list)
    assert {row.number for row in rows if row.result} == set(range(1_001, 1_501))
    assert (rows[1_500].duplicate_of, rows[1_500].result) == (2, None)
    assert numbers(address_list, "deliverable") == list(range(1_001, 1_501))


def test_pages_contain_each_matching_row_once(account: Account) -> None:
    content = many_rows(2_300).replace(b"+1", b"_1").replace(b"deliverable_1", b"risky+1")
    address_list = make_list(account, content)
    expected, found = numbers(address_list, "risky"), []
    after: int | None = 0
    while after is not None:
        page = find_page(address_list, ResultFilter.RISKY, after=after, limit=97)
        found += [row.number for row in page.rows]
        after = page.next
    assert found == expected
    assert len(found) > 1_000


def test_page_ends_early_if_matching_rows_are_far_apart(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_CHUNKS_PER_PAGE", 2)
    address_list = make_list(account, many_rows(2_999) + b"risky@sandbox.test\n" * 2)
    first = find_page(address_list, ResultFilter.RISKY, after=0, limit=5)
    assert (first.rows, first.next) == ([], 1_001)
    found, after = [], first.next
    while after is not None:
        page = find_page(address_list, ResultFilter.RISKY, after=after, limit=5)
        found += [row.number for row in page.rows]
        after = page.next
    assert found == [3_000, 3_001]


def test_page_of_a_row_unpacks_no_other_row(account: Account) -> None:
    """A chunk of a wide table has 200,000 cells, which take a hundred times their size."""
    row = b"deliverable@sandbox.test" + b",x" * 999 + b"\n"
    address_list = make_list(account, row * 200, dedupe="off")
    tracemalloc.start()
    try:
        page = find_page(address_list, ResultFilter.ALL, after=100, limit=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(page.rows[0].cells) == 1_000
    assert peak < 3 << 20
