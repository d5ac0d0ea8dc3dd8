"""The settings for prices and tax."""

import pytest

from config.settings.billing import currency, seller_country
from config.settings.environment import Environment


@pytest.mark.parametrize("code", ["JPY", "KRW", "KWD"])
def test_currency_without_two_decimals_is_refused(code: str) -> None:
    env = Environment({"CURRENCY": code})
    currency(env)
    assert env.problems == [
        f"CURRENCY must be a currency with two decimals, such as USD, not {code}."
    ]


@pytest.mark.parametrize(("value", "code"), [("DE", "DE"), ("gr", "GR"), ("", "")])
def test_seller_country_is_a_code(value: str, code: str) -> None:
    env = Environment({"SELLER_COUNTRY": value})
    assert (seller_country(env), env.problems) == (code, [])


@pytest.mark.parametrize("value", ["XI", "EL", "Germany", "EU"])
def test_unknown_seller_country_is_refused(value: str) -> None:
    env = Environment({"SELLER_COUNTRY": value})
    assert seller_country(env) == ""
    assert env.problems == ["SELLER_COUNTRY must be a country code of ISO 3166, such as DE or US."]
