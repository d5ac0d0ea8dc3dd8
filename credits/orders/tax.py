"""Which tax an order has, from the countries of seller and buyer. Pure.

The rules are those for services that are supplied electronically. We check the form of a VAT ID,
not that it is registered.
"""

from decimal import Decimal
from typing import NamedTuple

from stdnum.eu import vat

from credits.countries import COUNTRIES, EU

REVERSE_CHARGE = "Reverse charge"


class Tax(NamedTuple):
    rate: Decimal
    # Why there is none, or nothing if it is the seller's usual rate.
    reason: str = ""


class InvalidVatId(ValueError):
    """Raised if a VAT ID isn't one of the buyer's country."""


def tax_for(seller_country: str, buyer_country: str, vat_id: str, rate: Decimal) -> Tax:
    """Return the tax of an order. `vat_id` has been checked, or is empty.

    Buyers without a country, from before it was asked for, pay the usual rate.
    """
    if not (rate and seller_country and buyer_country) or seller_country == buyer_country:
        return Tax(rate)
    if not {seller_country, buyer_country} <= EU:
        return Tax(Decimal(0), f"Outside the scope of tax in {COUNTRIES[seller_country]}")
    return Tax(Decimal(0), REVERSE_CHARGE) if vat_id else Tax(rate)


def has_vat_ids(country: str) -> bool:
    """Return whether the country's VAT ids are checked.

    The United Kingdom's aren't, Northern Ireland's XI included: for services it is outside the EU.
    """
    return country in EU


def parse_vat_id(country: str, text: str) -> str:
    """Return the VAT ID in its usual form, as in `DE136695976`, or raise InvalidVatId.

    The prefix may be omitted. Greek ids begin with EL, and GR is accepted.
    """
    prefix = "EL" if country == "GR" else country
    number = "".join(letter for letter in text.upper() if letter not in " .-/")
    if country == "GR":
        number = f"EL{number[2:]}" if number.startswith("GR") else number
    for candidate in (number, prefix + number):
        if candidate.startswith(prefix) and vat.is_valid(candidate):
            return vat.compact(candidate)
    raise InvalidVatId
