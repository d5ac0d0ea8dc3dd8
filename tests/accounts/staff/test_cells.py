"""How the cells of staff panels are rendered."""

from datetime import date

import pytest

from accounts.staff.panels import Cell
from accounts.templatetags.staff_pages import cell_class, cell_html


@pytest.mark.parametrize(
    ("cell", "html", "css"),
    [
        (Cell(None), '<span aria-label="none">\N{EN DASH}</span>', "staff-moment"),
        (Cell(1_200), "1,200", "staff-number"),
        (Cell("USD 5.00", is_amount=True), "<bdi>USD 5.00</bdi>", "staff-number"),
        (Cell(date(2026, 11, 20)), "20 Nov 2026", "staff-moment"),
        (Cell("<b>", "/x/", "bad"), None, "staff-text"),
        (Cell("x" * 33), f"<bdi>{'x' * 33}</bdi>", "staff-text staff-text-long"),
    ],
)
def test_cell_is_rendered_by_its_type(cell: Cell, html: str | None, css: str) -> None:
    marked = '<a href="/x/"><span class="staff-tone staff-tone-bad"><bdi>&lt;b&gt;</bdi></span></a>'
    assert cell_html(cell) == (html or marked)
    assert cell_class(cell) == css
