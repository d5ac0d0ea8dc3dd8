"""What is counted without the DNS."""

from collections import Counter

import pytest

from engine.domain_data import StaffDomains
from lists.files.cells import read_address
from lists.previews import PreviewCounter


def preview(cells: list[str], staff_domains: StaffDomains | None = None) -> PreviewCounter:
    counter = PreviewCounter(0, staff_domains or StaffDomains())
    counter.add([cell] for cell in cells)
    return counter


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("jane@shop.com", "valid"),
        ("  jane@shop.com ", "valid"),
        ("jane@müller.de", "valid"),
        ("", "empty"),
        (" \t", "empty"),
        ("none", "not_address"),
        ("jane.shop.com", "not_address"),
        ("@", "bad_syntax"),
        ("jane@@shop.com", "bad_syntax"),
        ("jane@shop", "bad_syntax"),
        ("Jane <jane@shop.com>", "bad_syntax"),
        ("jane@" + "x" * 100_000, "bad_syntax"),
    ],
)
def test_each_row_is_of_one_kind(cell: str, kind: str) -> None:
    found = preview([cell])
    counts = {name: found.counts[name] for name in ("empty", "not_address", "bad_syntax", "valid")}
    assert counts == {name: int(name == kind) for name in counts}
    assert found.counts["rows"] == 1


def test_short_rows_have_an_empty_cell() -> None:
    counter = PreviewCounter(2)
    counter.add([["a"], ["a", "b"], ["a", "b", "jane@shop.com"]])
    assert counter.counts == Counter({"rows": 3, "empty": 2, "valid": 1})


@pytest.mark.parametrize(
    ("cell", "address"),
    [
        ("Jane <jane@shop.com>", "jane@shop.com"),
        ('"Doe, Jane" <jane@shop.com>', "jane@shop.com"),
        ("<jane@shop.com>", "jane@shop.com"),
        ("jane@shop.com <jane@shop.com>", "jane@shop.com"),
        ("Jane <jane@shop.com>, Joe <joe@shop.com>", "jane@shop.com"),
        ("jane@shop.com;joe@shop.com", "jane@shop.com"),
        ("jane@shop.com, joe@shop.com", "jane@shop.com"),
        ("jane@shop.com\njoe@shop.com", "jane@shop.com"),
        ("jane@shop.com;", "jane@shop.com"),
        # Not clear, or no address.
        ("jane doe@shop.com", None),
        ("write to jane@shop.com", None),
        ("Jane <jane>", None),
        ("Jane <jane@shop.com> or Joe", None),
        ('"a <b@shop.com>"@shop.com', None),
        ("jane@shop.com", None),
        ("<" * 100_000 + "@", None),
        ("jane", None),
        ("", None),
    ],
)
def test_address_among_other_text_is_extracted_if_asked(cell: str, address: str | None) -> None:
    assert read_address([cell], 0, extracts=False) == cell
    assert read_address([cell], 0, extracts=True) == (cell if address is None else address)
    for extracts in (False, True):
        counter = PreviewCounter(0, extracts_addresses=extracts)
        counter.add([[cell]])
        assert counter.counts["extractable"] == (address is not None)
        assert counter.counts["valid"] == 1 or not (extracts and address)


def test_disposable_free_and_role_addresses_are_counted() -> None:
    found = preview(
        [
            "jane@gmail.com",
            "info@gmail.com",
            "Info+news@shop.com",
            "a@mailinator.com",
            "info@@x.com",
        ]
    )
    kinds = ("free_provider", "role_account", "disposable")
    assert [found.counts[kind] for kind in kinds] == [2, 2, 1]


def test_domains_that_staff_listed_count_as_disposable() -> None:
    denied = StaffDomains(denied=frozenset({"throwaway.example"}))
    assert preview(["a@mx.throwaway.example"], denied).counts["disposable"] == 1
    allowed = StaffDomains(allowed=frozenset({"mailinator.com"}))
    assert preview(["a@mailinator.com"], allowed).counts["disposable"] == 0


def test_top_domains_are_the_most_frequent_in_one_spelling() -> None:
    found = preview(["a@Shop.com", "b@shop.com", "c@shop.com", "d@gmail.com", "e@MÜLLER.de"] * 2)
    assert found.top_domains == [("shop.com", 6), ("gmail.com", 2), ("xn--mller-kva.de", 2)]


def test_frequent_domains_are_counted_among_thousands_of_others() -> None:
    cells = [
        f"jane@{'shop.com' if number % 5 == 0 else f'shop{number}.com'}" for number in range(30_000)
    ]
    counter = PreviewCounter(0)
    counter.add([cell] for cell in cells)
    assert counter.top_domains[0] == ("shop.com", 6_000)
    assert len(counter.top_domains) == 20
    assert len(counter._domains) <= 20_000


def test_first_rows_are_shown_with_long_cells_cut() -> None:
    counter = PreviewCounter(0)
    counter.add([[f"row {number}", "x" * 1000, *["y"] * 1000] for number in range(100)])
    first_rows = counter.first_rows
    assert [row[0] for row in first_rows] == [f"row {number}" for number in range(20)]
    assert first_rows[0][1] == "x" * 80 + "…"
    assert {len(row) for row in first_rows} == {50}
