"""Rows come out of a file as they went in."""

import csv
import io
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lists.files.delimiters import DELIMITERS
from lists.files.errors import UnreadableFile
from lists.files.formats import FileFormat, FileKind, Hints, detect_format
from lists.files.rows import MAX_CELL_LENGTH, MAX_LINE_LENGTH, divide_rows, read_rows
from tests.lists.files.spreadsheets import build_table

CSV = FileFormat(FileKind.TEXT, "utf-8", delimiter=",")


def read(text: str, delimiter: str = ",") -> list[list[str]]:
    file_format = FileFormat(FileKind.TEXT, "utf-8", delimiter=delimiter)
    return list(read_rows(io.BytesIO(text.encode()), file_format))


def detect_and_read(data: bytes, **hints: str) -> list[list[str]]:
    stream = io.BytesIO(data)
    return list(read_rows(stream, detect_format(stream, Hints(**hints))))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\nc,d\n", [["a", "b"], ["c", "d"]]),
        ("a,b\r\nc,d", [["a", "b"], ["c", "d"]]),
        ("a,b\rc,d\r", [["a", "b"], ["c", "d"]]),
        ("a,b\r\r\nc,d", [["a", "b"], ["c", "d"]]),
        ("\n\na,b\n\n", [["a", "b"]]),
        (",,\na,b\n", [["a", "b"]]),
        ("a\nb,c,d\n,\n", [["a"], ["b", "c", "d"]]),
        ('"a\nb","c ""d"""\n', [["a\nb", 'c "d"']]),
        ('"a\r\nb",c\n', [["a\r\nb", "c"]]),
        ("a\0b,\0c\n", [["ab", "c"]]),
        ('5" pipe,b\n', [['5" pipe', "b"]]),
        ('x,y\n"Jane "JD" Doe",b\nc,d\n', [["x", "y"], ['Jane JD" Doe"', "b"], ["c", "d"]]),
        ('"a\nb",c\n"d" e,f\n"g\nh",i\n', [["a\nb", "c"], ["d e", "f"], ["g\nh", "i"]]),
        ("=1+1,@x\n", [["=1+1", "@x"]]),
        ("a\u2028b,c\x0bd\n", [["a\u2028b", "c\x0bd"]]),
    ],
)
def test_cells_of_a_table(text: str, rows: list[list[str]]) -> None:
    assert read(text) == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("jane@shop.example\r\njoe@shop.example", [["jane@shop.example"], ["joe@shop.example"]]),
        ('"jane@shop.example"\n', [["jane@shop.example"]]),
        ('"jane doe"@shop.example\n', [['"jane doe"@shop.example']]),
        ('"jane\njoe@shop.example\n', [['"jane'], ["joe@shop.example"]]),
        ("a,b\n", [["a,b"]]),
        ('""\n\n', []),
    ],
)
def test_one_address_per_line(text: str, rows: list[list[str]]) -> None:
    assert read(text, delimiter="") == rows


def test_line_that_names_the_delimiter_is_no_row() -> None:
    assert detect_and_read(b"sep=;\r\na;b\r\n") == [["a", "b"]]


@pytest.mark.parametrize("separator", [", ", ";", "; ", "\t"])
def test_addresses_in_a_single_line_are_rows(separator: str) -> None:
    addresses = [f"jane{number}@shop.example" for number in range(10_000)]
    rows = [[address] for address in addresses]
    assert detect_and_read(separator.join(addresses).encode()) == rows
    assert detect_and_read(separator.join([*addresses[:5], "\n"]).encode()) == rows[:5]


def test_addresses_with_names_in_a_single_line_are_rows() -> None:
    cells = ["Jane Doe <jane@shop.example>", '"Roe, Joe" <joe@shop.example>', "a@shop.example"]
    rows = [["Jane Doe <jane@shop.example>"], ["Roe, Joe <joe@shop.example>"], ["a@shop.example"]]
    for separator in (", ", ",", ";"):
        assert detect_and_read(separator.join(cells).encode()) == rows


def test_quotation_mark_can_follow_a_space_if_that_gives_addresses() -> None:
    text = b'Name, "Email"\nDoe, "jane@shop.example"\n'
    assert detect_and_read(text) == [["Name", "Email"], ["Doe", "jane@shop.example"]]
    text = b'Note,Email\n  a,jane@shop.example\n "b",joe@shop.example\n"c, ""d""",a@shop.example\n'
    assert detect_and_read(text)[1][0] == "  a"


def test_single_line_with_other_cells_is_a_row() -> None:
    assert detect_and_read(b"jane@shop.example,Jane") == [["jane@shop.example", "Jane"]]


def test_addresses_in_several_lines_are_a_table() -> None:
    rows = [["jane@shop.example", "jane@home.example"], ["joe@shop.example", "joe@home.example"]]
    assert detect_and_read("\n".join(map(",".join, rows)).encode()) == rows


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ('a,b\n"c,d\ne,f\n', "unclosed_quote", 2),
        ('a,b\nc,"d', "unclosed_quote", 2),
        ('a,b\n"c,d\n' + "e,f\n" * 5000, "unclosed_quote", 2),
        # Another mark opens below and seems to close the first one.
        ('"a\nb",c\n"Jane,x\n' + "e,f\n" * 5000 + '"Joe",y\n', "unclosed_quote", 3),
        ("a,b\n" * 5000 + '"' + "x,y\n" * MAX_CELL_LENGTH, "cell_too_long", 5001),
        ("a,b\nc," + "d" * (MAX_CELL_LENGTH + 1), "cell_too_long", 2),
        ("a,b\n" * 300 + "c," * MAX_LINE_LENGTH, "line_too_long", 301),
    ],
)
def test_broken_table_names_the_line(text: str, code: str, line: int) -> None:
    with pytest.raises(UnreadableFile) as error:
        read(text)
    assert (error.value.code, error.value.details["line"]) == (code, line)


def test_rows_before_a_broken_one_are_read_first() -> None:
    rows = read_rows(io.BytesIO(b"a,b\n" * 5000 + b'"c'), CSV)
    assert [next(rows) for _ in range(5000)] == [["a", "b"]] * 5000


def test_cell_may_have_many_line_breaks() -> None:
    note = "\n".join(f'He said "{number}"' for number in range(3000))
    file = io.StringIO()
    csv.writer(file).writerows([["a", note], ["b", note]])
    assert read(file.getvalue()) == [["a", note], ["b", note]]


def test_line_of_eight_megabytes_is_refused_in_a_plain_list() -> None:
    with pytest.raises(UnreadableFile) as error:
        read("a@b.example\n" + "x" * (8 << 20), delimiter="")
    assert error.value.message == (
        "Line 2 has more than 1,000,000 characters. Put each address in a row of its own."
    )


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
TABLES = st.lists(st.lists(CELL, min_size=2, max_size=5).filter(any), min_size=1, max_size=8)
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")


def write(rows: list[list[str]], delimiter: str, line_end: str = "\r\n") -> str:
    file = io.StringIO()
    # Otherwise the writer leaves a carriage return without quotes if it ends no line.
    writer = csv.writer(
        file,
        delimiter=delimiter,
        lineterminator=line_end,
        quoting=csv.QUOTE_MINIMAL if line_end == "\r\n" else csv.QUOTE_ALL,
    )
    writer.writerows(rows)
    return file.getvalue()


@given(
    TABLES,
    st.sampled_from(DELIMITERS),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(ENCODINGS),
)
def test_written_rows_are_read_back(
    rows: list[list[str]], delimiter: str, line_end: str, encoding: str
) -> None:
    data = write(rows, delimiter, line_end).encode(encoding)
    file_format = FileFormat(FileKind.TEXT, encoding, delimiter=delimiter)
    assert list(read_rows(io.BytesIO(data), file_format)) == [*map(without_empty_end, rows)]


def without_empty_end(row: list[str]) -> list[str]:
    last = max(index for index, cell in enumerate(row) if cell)
    return row[: last + 1]


def test_rows_are_divided_by_their_number_cells_and_characters() -> None:
    narrow, wide, long = ["x"], ["x"] * 1_000, ["x" * 400_000]
    assert [*map(len, divide_rows([narrow] * 2_500))] == [1_000, 1_000, 500]
    assert [*map(len, divide_rows([wide] * 450))] == [200, 200, 50]
    assert [*map(len, divide_rows([long] * 5))] == [2, 2, 1]


LOCAL_PART = st.text(string.ascii_lowercase, min_size=1, max_size=10)
NAME = st.text(string.ascii_letters + "éüßñ -'", min_size=1, max_size=20)


@given(
    st.lists(st.tuples(LOCAL_PART, NAME), min_size=2, max_size=30),
    st.sampled_from(DELIMITERS),
    st.sampled_from(ENCODINGS[:3]),
)
def test_delimiter_and_encoding_of_written_rows_are_found(
    people: list[tuple[str, str]], delimiter: str, encoding: str
) -> None:
    rows = [["Name", "Email"], *([name, f"{local}@shop.example"] for local, name in people)]
    data = write(rows, delimiter).encode(encoding)
    assert detect_and_read(data) == rows


XML_CELL = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Cn"], exclude_characters="_"), max_size=20
)


@settings(max_examples=50)
@given(st.lists(st.lists(XML_CELL, min_size=3, max_size=3).filter(all), min_size=1, max_size=8))
def test_rows_of_a_spreadsheet_are_read_back(rows: list[list[str]]) -> None:
    assert detect_and_read(build_table(rows)) == rows


@settings(max_examples=300)
@given(st.binary(max_size=300), st.sampled_from(["", ",", ";"]))
def test_any_bytes_give_rows_or_a_clear_error(data: bytes, delimiter: str) -> None:
    try:
        rows = detect_and_read(data, delimiter=delimiter)
    except UnreadableFile as error:
        assert error.message
    else:
        assert all(isinstance(cell, str) for row in rows for cell in row)
