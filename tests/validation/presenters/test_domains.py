"""What pages say about an account's own domains."""

import pytest

from validation.account_domains.services import DomainLists
from validation.presenters.domains import account_list_note, overruled_note, saved_message


@pytest.mark.parametrize(
    ("account_list", "verdict", "note"),
    [
        (None, "risky", ""),
        ("denied", "deliverable", "Denied by your own domains: reject the address."),
        ("allowed", "risky", "Allowed by your own domains: accept the address."),
        ("allowed", "unknown", "Allowed by your own domains: accept the address."),
        (
            "allowed",
            "undeliverable",
            "Allowed by your own domains, but undeliverable: reject the address.",
        ),
    ],
)
def test_note_says_what_to_do_with_the_address(
    account_list: str | None, verdict: str, note: str
) -> None:
    assert account_list_note(account_list, verdict) == note


def test_only_allowed_domains_that_are_denied_are_named() -> None:
    lists = DomainLists(["a.shop.example", "shop.example", "x.example"], ["shop.example"])
    assert overruled_note(lists) == (
        "Denied wins, so these allowed domains are denied: a.shop.example, shop.example."
    )
    assert overruled_note(DomainLists(["shop.example"], ["a.shop.example"])) == ""


def test_message_has_the_numbers_of_both_lists() -> None:
    message = saved_message(DomainLists(["a.example"] * 1_500, []))
    assert message.startswith("Saved 1,500 allowed and 0 denied domains.")
