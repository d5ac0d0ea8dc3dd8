"""What pages say about an account's own domains."""

import pytest

from validation.presenters.domains import account_list_note


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
def test_note_says_what_to_do(account_list: str | None, verdict: str, note: str) -> None:
    assert account_list_note(account_list, verdict) == note
