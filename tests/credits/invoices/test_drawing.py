"""The PDF of an invoice: one page, readable in every script, and the same bytes each time."""

import re
from dataclasses import replace

import pytest

from credits.invoices import fonts
from credits.invoices.drawing import draw
from credits.invoices.text import InvoiceText
from tests.support.pdf_text import page_count, pdf_text

INVOICE = InvoiceText(
    title="Invoice",
    number="INV-000123",
    created_on="2026-11-23",
    seller=("Example Validation Ltd", "1 Example Street", "support@validation.example"),
    buyer=("The Shop Ltd", "1 Market Street", "Germany", "VAT ID DE136695976"),
    facts=(("Number", "INV-000123"), ("Date", "23 Nov 2026"), ("Due", "7 Dec 2026")),
    stamp="",
    description="100,000 credits",
    period="",
    credits="100,000",
    net="EUR 99.00",
    sums=(("Tax, 19%", "EUR 18.81"),),
    total=("Total", "EUR 117.81"),
    refunds=(),
    payment=("Please transfer EUR 117.81 by 7 Dec 2026:", "Example Bank, account 000000"),
)
NAMES = {
    "Polish": "Łódź Żółć Sp. z o.o.",
    "Greek": "Ελληνική Εταιρεία ΑΕ",
    "Ukrainian": "ТОВ «Приклад Їжак»",
    "Vietnamese": "Công ty Cổ phần Ví Dụ",
    "Arabic": "شركة المثال للتجارة",
    "Persian": "شرکت نمونه می‌شود",
    "Hebrew": "חברת הדוגמה בע״מ",
    "Thai": "บริษัท ตัวอย่าง จำกัด",
    "Hindi": "उदाहरण प्राइवेट लिमिटेड",
    "Georgian": "შპს მაგალითი",
    "Armenian": "Օրինակ ՍՊԸ",
    "Japanese": "株式会社サンプル東京",
    "Simplified Chinese": "示例科技(上海)有限公司",
    "Traditional Chinese": "範例資訊股份有限公司喆堃",
    "Korean": "주식회사 예시",
}


def test_fonts_have_every_character_of_a_name_which_can_be_copied_from_the_pdf() -> None:
    text = pdf_text(draw(replace(INVOICE, buyer=(*NAMES.values(), "Germany"))))
    # It stands for characters that no font has.
    assert "?" not in text
    for script, name in NAMES.items():
        # Shaped and right-to-left text is in the order of its glyphs.
        letters = {letter for letter in name if letter.isalpha()}
        assert len(letters - set(text)) <= len(letters) // 3, script
    assert "Germany" in text


def test_every_line_is_printed_with_the_same_bytes_each_time_and_nothing_to_load() -> None:
    invoice = replace(INVOICE, stamp="Paid on 27 Nov 2026")
    content = draw(invoice)
    text = pdf_text(content)
    lines = (*invoice.seller, *invoice.buyer, *invoice.payment, invoice.stamp)
    for line in (*lines, "Tax, 19%", "EUR 117.81"):
        assert line in text
    assert draw(invoice) == content
    assert b"/JavaScript" not in content
    assert b"/URI" not in content


@pytest.mark.parametrize(
    "change",
    [
        {"buyer": ("W" * 200, *["W" * 20] * 24, "Germany", "VAT ID DE136695976")},
        {"buyer": ("The Shop Ltd", *["x"] * 250)},
        {"buyer": ("東" * 200, "京" * 500)},
        {
            "net": "USD 999,999,999,999.99",
            "total": ("Total", "USD 999,999,999,999.99"),
            "sums": (("Tax, 0% · Outside the scope of tax in " + "Country " * 12, "$0.00"),),
            "description": "Upgrade from " + "Starter" * 25,
        },
    ],
)
def test_long_texts_stay_on_one_page(change: dict[str, object]) -> None:
    assert page_count(draw(replace(INVOICE, **change))) == 1  # type: ignore[arg-type]


def test_characters_that_cannot_be_printed_are_replaced_by_a_sign() -> None:
    buyer = ("a\u202eb\x00c \U0001f600 d", "<b>1</b> %s (x) \\ ) Tj")
    text = pdf_text(draw(replace(INVOICE, buyer=buyer)))
    assert "a?b?c ? d" in text
    assert "<b>1</b> %s (x) \\ ) Tj" in text


def test_font_files_have_a_line_in_the_readme_and_stay_small() -> None:
    readme = (fonts.FOLDER / "README.md").read_text()
    for license_name in re.findall(r"`(LICENSE-[\w-]+)`", readme):
        assert "SIL Open Font License" in (fonts.FOLDER / license_name).read_text()
    files = {fonts.REGULAR, fonts.BOLD, *map(fonts.font_file, fonts.SCRIPTS)}
    assert files == set(fonts.FOLDER.glob("*.ttf"))
    assert sum(file.stat().st_size for file in files) < 8_500_000
