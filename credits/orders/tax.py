"""A VAT ID's form is checked, not its registration."""

from decimal import Decimal
from typing import NamedTuple

from stdnum.eu import vat

from credits.countries import COUNTRIES, EU

REVERSE_CHARGE = "Reverse charge"


class Tax(NamedTuple):
    rate: Decimal
    # Why there is no tax. Empty at the usual rate.
    reason: str = ""


class InvalidVatId(ValueError):
    """Raised if a VAT ID isn't one of the buyer's country."""


def tax_for(seller_country: str, buyer_country: str, vat_id: str, rate: Decimal) -> Tax:
    """`vat_id` has been checked, or is empty."""
    if not (rate and seller_country and buyer_country) or seller_country == buyer_country:
        return Tax(rate)
    if not {seller_country, buyer_country} <= EU:
        return Tax(Decimal(0), f"Outside the scope of tax in {COUNTRIES[seller_country]}")
    return Tax(Decimal(0), REVERSE_CHARGE) if vat_id else Tax(rate)


def has_vat_ids(country: str) -> bool:
    """For services, Northern Ireland is outside the EU."""
    return country in EU


def parse_vat_id(country: str, text: str) -> str:
    """Return the ID as in `DE136695976`. Its prefix may be omitted."""
    prefix = "EL" if country == "GR" else country
    number = "".join(letter for letter in text.upper() if letter not in " .-/")
    if country == "GR":
        number = f"EL{number[2:]}" if number.startswith("GR") else number
    for candidate in (number, prefix + number):
        if candidate.startswith(prefix) and vat.is_valid(candidate):
            return vat.compact(candidate)
    raise InvalidVatId
