"""Which column holds the addresses, and whether the first row is a header."""

import pytest

from lists.files.cells import looks_like_address
from lists.files.columns import ColumnGuess, guess_columns


def addresses(count: int, name: str = "jane") -> list[str]:
    return [f"{name}{number}@shop.example" for number in range(count)]


def guess(columns: dict[str, list[str]], has_header: bool | None = None) -> ColumnGuess:
    """Guess from columns of equal length, given by their header."""
    rows = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    return guess_columns(rows, has_header)


def chosen(found: ColumnGuess) -> str | None:
    return found.address_column.name if found.address_column else None


@pytest.mark.parametrize(
    "cell",
    [
        "jane@shop.example",
        " jane@shop.example\t",
        "JANE.DOE+news@mail.shop.example",
        "jane@müller.example",
        "用户@例子.广告",
        "o'neil@shop.example",
    ],
)
def test_cells_that_look_like_addresses(cell: str) -> None:
    assert looks_like_address(cell)


@pytest.mark.parametrize(
    "cell",
    [
        *("", "jane", "jane@shop", "@shop.example", "jane@", "jane@shop.", "ja ne@shop.example"),
        *("jane@@shop.example", "a@b.example,c@d.example", "Jane <jane@shop.example>"),
        *("a" * 400 + "@shop.example", "mailto:", "=HYPERLINK(1)", "Email", "@jane"),
    ],
)
def test_cells_that_do_not(cell: str) -> None:
    assert not looks_like_address(cell)


def test_column_with_addresses_is_found_with_its_evidence() -> None:
    found = guess({"Name": ["Jane"] * 50, "Kontakt": [*addresses(49), "none"]})
    assert found.address_column is found.columns[1]
    assert chosen(found) == "Kontakt"
    assert found.columns[1].evidence == "98% of 50 cells have an address"
    assert found.columns[0].evidence == "0% of 50 cells have an address"


@pytest.mark.parametrize(
    ("cells", "is_beginning", "evidence"),
    [
        (addresses(1000), True, "100% of the first 1,000 cells have an address"),
        ([*addresses(999), "none"], False, "99% of 1,000 cells have an address"),
        (["jane@shop.example"], False, "100% of 1 cell has an address"),
        ([*addresses(10), *[""] * 80, *["  "] * 10], False, "100% of 10 cells have an address"),
    ],
)
def test_evidence_counts_cells_that_are_not_empty(
    cells: list[str], is_beginning: bool, evidence: str
) -> None:
    found = guess_columns([[cell] for cell in cells], is_beginning=is_beginning)
    assert found.columns[0].evidence == evidence


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        # More addresses outweigh a better share.
        ({"Second": [*addresses(3), *[""] * 97], "First": [*addresses(97), *["-"] * 3]}, "First"),
        # The header decides between columns with nearly as many.
        ({"Owner": addresses(100), "E-Mail": [*addresses(95), *["-"] * 5]}, "E-Mail"),
        ({"Owner email": addresses(100), "Email": addresses(100)}, "Email"),
        ({"Owner": addresses(100), "Work email": addresses(100)}, "Work email"),
        ({"Vendedor": addresses(9), "Correo electrónico": addresses(9)}, "Correo electrónico"),
        ({"Betreuer": addresses(9), "Adresse": addresses(9)}, "Adresse"),
        ({"Gestionnaire": addresses(9), "Adresse e-mail": addresses(9)}, "Adresse e-mail"),
        # But not if it holds far fewer.
        ({"Kontakt": addresses(100), "Email": [*addresses(50), *[""] * 50]}, "Kontakt"),
        # A bad list is still a list if its header says so.
        ({"Name": ["Jane"] * 100, "Email": [*addresses(20), *["-"] * 80]}, "Email"),
        # The first of two equals.
        ({"A": addresses(10), "B": addresses(10)}, "A"),
    ],
)
def test_best_of_several_columns(columns: dict[str, list[str]], name: str) -> None:
    assert chosen(guess(columns)) == name


@pytest.mark.parametrize(
    "columns",
    [
        {"Name": ["Jane"], "City": ["Berlin"]},
        {"Email": ["none"] * 100},
        {"Email": [*addresses(5), *["none"] * 95]},
        {"Notes": [*addresses(40), *["called"] * 60]},
        {"Email": [""]},
    ],
)
def test_nothing_is_guessed_if_no_column_fits(columns: dict[str, list[str]]) -> None:
    assert guess(columns).address_column is None


def test_no_rows_have_no_column() -> None:
    assert guess_columns([]) == ColumnGuess((), None, has_header=False)


@pytest.mark.parametrize(
    ("rows", "has_header"),
    [
        ([["email"], ["jane@shop.example"]], True),
        ([["Kontakt", "Name"], ["jane@shop.example", "Jane"]], True),
        ([["jane@shop.example"], ["joe@shop.example"]], False),
        ([["jane@shop.example"]], False),
        # A mistyped address is no header.
        ([["jane@@shop"], ["joe@shop.example"]], False),
        # No address anywhere: only a known name makes it a header.
        ([["Email"], ["none"]], True),
        ([["Email"]], True),
        ([["Name"], ["Jane"]], False),
        ([["Name", ""], ["Jane", "joe@shop.example"]], True),
    ],
)
def test_header_is_found(rows: list[list[str]], has_header: bool) -> None:
    assert guess_columns(rows).has_header is has_header


def test_customer_may_say_whether_there_is_a_header() -> None:
    rows = [["anyone"], ["jane@shop.example"]]
    without = guess_columns(rows, has_header=False)
    assert (without.columns[0].name, without.columns[0].cells) == ("", 2)
    given = guess_columns([["jane@shop.example"], ["joe@shop.example"]], has_header=True)
    assert (given.columns[0].name, given.columns[0].cells) == ("jane@shop.example", 1)


def test_ragged_rows_have_columns_up_to_the_longest() -> None:
    found = guess_columns([["a"], ["b", "c", "jane@shop.example"], []])
    assert [column.cells for column in found.columns] == [1, 1, 1]
    assert found.address_column is found.columns[2]


def test_row_with_a_million_cells_is_cut() -> None:
    assert len(guess_columns([["x"] * 1_000_000]).columns) == 200


def test_column_of_names_with_addresses_is_guessed() -> None:
    found = guess_columns(
        [["id", "contact"], ["1", "Jane <jane@shop.example>"], ["2", "joe@shop.example"]]
    )
    assert (found.has_header, found.best_column) == (True, 1)
    assert found.columns[1].evidence == "100% of 2 cells have an address"
