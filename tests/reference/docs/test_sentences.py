from decimal import Decimal

import pytest

from reference.docs.sentences import describe_details, describe_result, describe_tax, list_codes

RESULT = {
    "verdict": "risky",
    "reason": "role",
    "retry_after_s": None,
    "did_you_mean": None,
    "lookalike_of": None,
    "syntax_error": None,
}


def test_tax_is_named_if_there_is_any() -> None:
    assert describe_tax(Decimal(0)) == "No tax is added to these prices."
    assert describe_tax(Decimal("0.081")) == "8.1% tax is added to these prices."


def test_codes_are_separated_by_commas() -> None:
    assert list_codes(["google", "other"]) == "`google`, `other`"


def test_details_have_sample_values_unless_these_are_too_long() -> None:
    assert describe_details({}) == ""
    assert describe_details({"required": 1, "top_up_url": "…"}) == (
        "`details` contains `required` (for example 1), `top_up_url`."
    )


@pytest.mark.parametrize(
    ("word", "fields", "description"),
    [
        ("risky", {}, "risky, `role`"),
        ("role", {}, "risky"),
        ("role", {"retry_after_s": 60}, "risky, retry after 60 seconds"),
        ("role", {"did_you_mean": "a@b.example"}, "risky, with `did_you_mean`"),
        ("role", {"lookalike_of": "b.example"}, "risky, with `lookalike_of`"),
        ("role", {"syntax_error": {"code": "no_at"}}, "risky, with `syntax_error`"),
    ],
)
def test_result_is_described_by_what_its_word_does_not_say(
    word: str, fields: dict[str, object], description: str
) -> None:
    assert describe_result(word, {**RESULT, **fields}) == description
