from collections.abc import Iterable
from dataclasses import fields
from datetime import UTC, datetime
from typing import cast

from fpdf import FPDF
from fpdf.enums import MethodReturnValue, XPos, YPos
from fpdf.fonts import TTFFont

from credits.invoices import fonts
from credits.invoices.text import InvoiceText, Row

MARGIN = 20.0
WIDTH = 210.0 - 2 * MARGIN
# Letter paper is 18 mm shorter than A4.
BOTTOM = 33.0
LINE = 5.0
HALF = WIDTH / 2 - 5
AMOUNT, CREDITS = 40.0, 30.0
# Longer addresses are joined, so that the invoice stays on one page.
MAX_LINES = 9
SCALES = (1.0, 0.85, 0.7)
INK, MUTED, RULE = (24, 24, 27), (95, 95, 105), (215, 215, 220)


def draw(invoice: InvoiceText) -> bytes:
    for scale in SCALES:
        document = _Document(invoice, scale)
        document.draw_heading(invoice)
        document.draw_parties(invoice)
        document.draw_item(invoice)
        document.draw_sums(invoice)
        pdf = bytes(document.output())
        document.close_fonts()
        if document.pages_count == 1:
            break
    return pdf


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Iterable):
        for part in value:
            yield from _texts(part)


class _Document(FPDF):
    def __init__(self, invoice: InvoiceText, scale: float) -> None:
        super().__init__(format="A4")
        self.scale = scale
        self.set_margins(MARGIN, MARGIN)
        # Align text with the lines.
        self.c_margin = 0
        self.set_auto_page_break(True, BOTTOM)
        self.set_creation_date(datetime.fromisoformat(invoice.created_on).replace(tzinfo=UTC))
        self.set_title(f"{invoice.title} {invoice.number}")
        self.set_author(fonts.printable("".join(invoice.seller[:1])))
        self.set_lang("en")
        self.add_font("Inter", "", fonts.REGULAR)
        self.add_font("Inter", "B", fonts.BOLD)
        texts = [text for field in fields(invoice) for text in _texts(getattr(invoice, field.name))]
        scripts = fonts.scripts_of(texts)
        for script in scripts:
            self.add_font(script, "", fonts.font_file(script))
        self.set_fallback_fonts(scripts, exact_match=False)
        self.set_text_shaping(True, features={"tnum": True, "kern": True})
        self.add_page()

    def close_fonts(self) -> None:
        for font in self.fonts.values():
            if isinstance(font, TTFFont):
                font.ttfont.close()

    def draw_heading(self, invoice: InvoiceText) -> None:
        self._style(20, bold=True)
        self._write(invoice.title, WIDTH, height=10, align="R")
        self.set_y(MARGIN)
        self._style(11, bold=True)
        self._lines(invoice.seller[:1], HALF)
        self._style(9, MUTED)
        self._lines(invoice.seller[1:], HALF)
        self.set_y(max(self.get_y(), MARGIN + 10) + 10)

    def draw_parties(self, invoice: InvoiceText) -> None:
        top = self.get_y()
        self._style(9, MUTED)
        self._lines(["Bill to"], HALF)
        self._style(10, bold=True)
        self._lines(invoice.buyer[:1], HALF)
        self._style(10)
        self._lines(invoice.buyer[1:], HALF)
        bottom = self.get_y()
        self.set_y(top)
        for label, value in invoice.facts:
            self._pair((label, value), MARGIN + HALF + 10, HALF)
        self.set_y(max(bottom, self.get_y()) + 8)
        if invoice.stamp:
            self._stamp(invoice.stamp)

    def draw_item(self, invoice: InvoiceText) -> None:
        self._style(9, MUTED)
        self._columns("Item", "Credits", "Net")
        self._rule()
        self._style(10)
        self._columns(invoice.description, invoice.credits, invoice.net)
        if invoice.period:
            self._style(9, MUTED)
            self._lines([invoice.period], WIDTH - AMOUNT - CREDITS)
        self._rule()

    def draw_sums(self, invoice: InvoiceText) -> None:
        for row in invoice.sums:
            self._sum(row, bold=False)
        self._sum(invoice.total, bold=True)
        for row in invoice.refunds:
            self._sum(row, bold=False)
        self.ln(10)
        self._style(10)
        self._lines(invoice.payment, WIDTH)

    def _stamp(self, text: str) -> None:
        """Write the text in a frame, at the right."""
        self._style(10, bold=True)
        width, height = self.get_string_width(text) + 8, 8 * self.scale
        self.set_draw_color(*INK)
        self.set_line_width(0.4)
        self.set_x(MARGIN + WIDTH - width)
        self.cell(width, height, text, border=1, align="C", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.ln(8)

    def _style(self, size: float, color: tuple[int, int, int] = INK, *, bold: bool = False) -> None:
        self.set_font("Inter", "B" if bold else "", size * self.scale)
        self.set_text_color(*color)

    def _lines(self, lines: Iterable[str], width: float) -> None:
        lines = list(lines)
        if len(lines) > MAX_LINES:
            lines[MAX_LINES - 1 :] = [", ".join(lines[MAX_LINES - 1 :])]
        for line in lines:
            self._write(line, width)

    def _columns(self, item: str, credits: str, net: str) -> None:
        top, width = self.get_y(), WIDTH - AMOUNT - CREDITS
        self.set_xy(MARGIN + width, top)
        self._write(credits, CREDITS, align="R")
        self.set_xy(MARGIN + width + CREDITS, top)
        self._write(net, AMOUNT, align="R")
        self.set_xy(MARGIN, top)
        self._write(item, width)

    def _sum(self, row: Row, *, bold: bool) -> None:
        self._style(10, bold=bold)
        self._pair(row, MARGIN + HALF - 20, HALF + 30, styled=True)

    def _pair(self, row: Row, left: float, width: float, *, styled: bool = False) -> None:
        top = self.get_y()
        if not styled:
            self._style(10, MUTED)
        self.set_xy(left, top)
        self._write(row[0], width - AMOUNT, align="R" if styled else "L")
        bottom = self.get_y()
        if not styled:
            self._style(10)
        self.set_xy(left + width - AMOUNT, top)
        self._write(row[1], AMOUNT, align="R")
        self.set_y(max(bottom, self.get_y()) + 1)

    def _write(self, text: str, width: float, *, height: float = LINE, align: str = "L") -> None:
        left, height = self.x, height * self.scale
        known = self._known(fonts.printable(text))
        lines = self.multi_cell(width, text=known, dry_run=True, output=MethodReturnValue.LINES)
        for line in cast(list[str], lines):
            # After a line that ends in another font, fpdf2 doesn't set the font again.
            self.current_font_is_set_on_page = False
            self.set_x(left)
            self.cell(width, height, line, align=align, new_x=XPos.LMARGIN, new_y=YPos.NEXT)

    def _known(self, text: str) -> str:
        known = [font.cmap for font in self.fonts.values() if isinstance(font, TTFFont)]
        return "".join(
            letter
            if letter in fonts.JOINERS or any(ord(letter) in cmap for cmap in known)
            else fonts.UNKNOWN
            for letter in text
        )

    def _rule(self) -> None:
        self.ln(2)
        self.set_draw_color(*RULE)
        self.set_line_width(0.2)
        self.line(MARGIN, self.get_y(), MARGIN + WIDTH, self.get_y())
        self.ln(3)
