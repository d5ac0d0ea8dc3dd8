"""CSV files stay harmless in spreadsheets that split them at another character."""

import csv
from io import StringIO

import pytest

from runtime.csv_download import csv_lines, escape_formula, to_cell

pytestmark = pytest.mark.anywhere

FORMULA = "=1+2"
HOSTILE = [
    *(f"a{separator}{FORMULA}" for separator in ",;\t\n\r"),
    *("a;  =1+2", "a;;=1+2", 'a;"=1+2&"', 'a; " =1+2&"', "a;\u200b=1+2", "a;＝1+2", "a;@x", "a;-x"),
    *("a;b\t=1+2", "a\n;=1+2", "a;+1+cmd|' /C calc'!A0", '";=1+2"', "=1;=2", "-1;-x"),
    *("+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "@SUM(1)", " =1", "\t-x", "\r=1", "＋1+x"),
]
UNCHANGED = [
    *("a;b", "a, b", "Jane; the = sign", "a\nb", 'say "a; b"', "52.52,-13.40", "52,5;-13,4", "a;"),
    *("tel: 1; +49 30/123-45", "a;\t-5 %", "1;\n2", "jane@shop.com; joe@shop.com"),
    *(
        "+49 170 1234567",
        "-12.50",
        "-1\u202f234,50 €",
        "+1 (212) 555-0100",
        "-",
        "\u202a+491\u202c",
    ),
    *("+49 170 1234567 x12", "+1 212 555 0100 ext. 7", "-1e5"),
]


def write(delimiter: str, *cells: str) -> str:
    return "".join(csv_lines([[*map(escape_formula, cells)]], delimiter)).removeprefix("\ufeff")


def read(text: str, delimiter: str) -> list[str]:
    """Read as spreadsheets do: a quote inside of a cell doesn't quote."""
    return [
        cell
        for row in csv.reader(StringIO(text, newline=None), delimiter=delimiter)
        for cell in row
    ]


@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize("cell", HOSTILE)
def test_no_cell_starts_a_formula_wherever_the_file_is_split(cell: str, delimiter: str) -> None:
    for cells in ([cell], ["x", cell], [cell, "x"], ["x y", cell, cell]):
        written = write(delimiter, *cells)
        for other in ",;\t":
            starts = {found.strip('" \u200b\r\n')[:1] for found in read(written, other)}
            assert not starts & set("=+-@＝"), (written, other)


@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize("cell", UNCHANGED)
def test_cell_without_a_formula_is_unchanged(cell: str, delimiter: str) -> None:
    assert read(write(delimiter, "x", cell), delimiter) == ["x", cell]


@pytest.mark.parametrize("note", ["Berlin(HQ)", "a|b", "call (home)!"])
def test_phone_number_stays_as_it_is_whatever_follows(note: str) -> None:
    assert read(write(",", "+49 170 1234567", note), ",") == ["+49 170 1234567", note]


@pytest.mark.parametrize(
    "cells",
    [
        ("-1", "5+cmd|' /C calc'!A0"),
        ("-1", "5+cmd|' /C calc'!A0;x"),
        ("x", "y;-1", "5+WEBSERVICE(A1)"),
        ("x", 'y\n"-1', "5+cmd|' /C calc'!A0"),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_number_does_not_begin_a_formula_that_the_next_cell_ends(
    cells: tuple[str, ...], delimiter: str
) -> None:
    for other in ",;\t":
        for found in read(write(delimiter, *cells), other):
            assert not (found.strip('" \r\n')[:1] in set("+-") and set("|(") & set(found)), found


def test_formulas_can_be_kept() -> None:
    lines = csv_lines([["=1+2", "a;=1+2", "-1,5+cmd|"]], keep_formulas=True)
    assert "".join(lines) == '\ufeff=1+2,a;=1+2,"-1,5+cmd|"\r\n'


@pytest.mark.parametrize(("delimiter", "cell"), [(",", "a,=1+2"), (";", "a;=1+2")])
def test_delimiter_of_the_file_is_quoted_instead(delimiter: str, cell: str) -> None:
    assert read(write(delimiter, "x", cell), delimiter) == ["x", cell]


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        (True, "yes"),
        (False, "no"),
        (0, 0),
        (FORMULA, f"'{FORMULA}"),
        ("a\u202eb", "a[U+202E]b"),
    ],
)
def test_cells_show_values_and_have_no_formulas(value: str | int | None, cell: str | int) -> None:
    assert to_cell(value) == cell
