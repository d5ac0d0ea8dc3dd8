"""Which tax an order has."""

from decimal import Decimal

import pytest

from credits.orders.tax import InvalidVatId, Tax, parse_vat_id, tax_for

RATE = Decimal("0.19")
USUAL, REVERSE_CHARGE = Tax(RATE), Tax(Decimal(0), "Reverse charge")
OUTSIDE_GERMANY = Tax(Decimal(0), "Outside the scope of tax in Germany")
OUTSIDE_US = Tax(Decimal(0), "Outside the scope of tax in United States")


@pytest.mark.parametrize(
    ("seller", "buyer", "vat_id", "tax"),
    [
        ("DE", "DE", "", USUAL),
        ("DE", "DE", "DE136695976", USUAL),
        ("DE", "FR", "", USUAL),
        ("DE", "FR", "FR40303265045", REVERSE_CHARGE),
        ("DE", "GR", "EL094259216", REVERSE_CHARGE),
        ("DE", "US", "", OUTSIDE_GERMANY),
        ("DE", "GB", "XI123456789", OUTSIDE_GERMANY),
        ("DE", "CH", "", OUTSIDE_GERMANY),
        ("US", "US", "", USUAL),
        ("US", "DE", "DE136695976", OUTSIDE_US),
        # Accounts whose country was never asked for, and sellers who haven't set theirs.
        ("DE", "", "", USUAL),
        ("", "FR", "FR40303265045", USUAL),
    ],
)
def test_tax_depends_on_both_countries_and_the_vat_id(
    seller: str, buyer: str, vat_id: str, tax: Tax
) -> None:
    assert tax_for(seller, buyer, vat_id, RATE) == tax


@pytest.mark.parametrize("buyer", ["DE", "FR", "US", ""])
def test_without_a_rate_there_is_no_tax_and_no_reason(buyer: str) -> None:
    assert tax_for("DE", buyer, "", Decimal(0)) == Tax(Decimal(0))


@pytest.mark.parametrize(
    ("country", "text", "vat_id"),
    [
        ("DE", "DE136695976", "DE136695976"),
        ("DE", " de 136 695 976 ", "DE136695976"),
        ("DE", "136695976", "DE136695976"),
        ("FR", "FR 40 303 265 045", "FR40303265045"),
        ("PL", "PL 526-000-12-46", "PL5260001246"),
        ("AT", "U13585627", "ATU13585627"),
        ("GR", "EL094259216", "EL094259216"),
        ("GR", "GR094259216", "EL094259216"),
        ("GR", "094259216", "EL094259216"),
    ],
)
def test_vat_id_is_stored_in_its_usual_form(country: str, text: str, vat_id: str) -> None:
    assert parse_vat_id(country, text) == vat_id


@pytest.mark.parametrize(
    ("country", "text"),
    [
        ("DE", "DE136695977"),
        ("DE", "DE13669597"),
        ("DE", "FR40303265045"),
        ("FR", "DE136695976"),
        ("DE", "EU372022452"),
        ("IE", "XI123456789"),
        ("DE", "SH123"),
        ("DE", "DE"),
        ("DE", "١٣٦٦٩٥٩٧٦"),
    ],
)
def test_vat_id_that_is_wrong_or_of_another_country_is_refused(country: str, text: str) -> None:
    with pytest.raises(InvalidVatId):
        parse_vat_id(country, text)
