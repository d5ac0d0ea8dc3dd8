"""Canonical addresses, providers and mixed scripts."""

import pytest

from engine.aliases import canonical_address, split_tag
from engine.syntax.unicode_scripts import is_mixed_domain, is_mixed_local_part


@pytest.mark.parametrize(
    ("address", "provider", "canonical", "tag"),
    [
        ("Jane.Doe+News@gmail.com", "google", "janedoe@gmail.com", "News"),
        ("jane.doe@googlemail.com", None, "janedoe@gmail.com", None),
        ("Jane.Doe+news@outlook.com", None, "jane.doe@outlook.com", "news"),
        ("jane+news@hotmail.co.uk", None, "jane@hotmail.co.uk", "news"),
        ("jane+news@live.com", None, "jane@live.com", "news"),
        ("jane.doe+news@icloud.com", None, "jane.doe@icloud.com", "news"),
        ("jane+news@fastmail.com", None, "jane@fastmail.com", "news"),
        ("Jane.Doe+news@proton.me", None, "jane.doe@proton.me", "news"),
        ("jane-news@yahoo.com", None, "jane@yahoo.com", "news"),
        ("jane-news@yahoo.co.uk", "yahoo", "jane@yahoo.co.uk", "news"),
        ("jane+news@yahoo.com", None, "jane+news@yahoo.com", "news"),
        ("Jane.Doe+news@company.com", "google", "jane.doe@company.com", "news"),
        ("Jane.Doe+news@company.com", "microsoft_365", "jane.doe@company.com", "news"),
        ("Jane.Doe+news@company.com", "other", "jane.doe+news@company.com", "news"),
        ("Jane.Doe+news@company.com", None, "jane.doe+news@company.com", "news"),
        ("jane-news@yahoo.app", None, "jane-news@yahoo.app", None),
        ("jane+news@outlook.shop", "other", "jane+news@outlook.shop", "news"),
        ("jane+news@hotmail.io", "other", "jane+news@hotmail.io", "news"),
        ("jane-news@company.com", "other", "jane-news@company.com", None),
        ("jane+@gmail.com", "google", "jane@gmail.com", None),
        ("+news@gmail.com", "google", "+news@gmail.com", None),
        ("J\u030cohn@company.com", None, "\u01f0ohn@company.com", None),
        ("a+b+c@gmail.com", "google", "a@gmail.com", "b+c"),
    ],
)
def test_aliases_have_one_canonical_address(
    address: str, provider: str | None, canonical: str, tag: str | None
) -> None:
    local_part, _, domain = address.rpartition("@")
    assert canonical_address(local_part, domain, provider) == canonical
    assert split_tag(local_part, domain, provider)[1] == tag


@pytest.mark.parametrize(
    ("domain", "is_mixed"),
    [
        ("paypal.com", False),
        ("p\u0430ypal.com", True),
        ("pay2p\u0430l.com", True),
        ("my-\u043f\u043e\u0447\u0442\u0430.com", True),
        ("почта.рф", False),
        ("почта.com", False),
        ("bücher.de", False),
        ("例子.com", False),
        ("東京タワー.jp", False),
        ("abc東京.jp", False),
        ("한국kr.com", False),
        ("ελλάδα.gr", False),
        ("ελλaδα.gr", True),
        ("हिन्दी.com", False),
        ("ａbc.com", False),
    ],
)
def test_mixed_scripts_in_one_label_are_detected(domain: str, is_mixed: bool) -> None:
    assert is_mixed_domain(domain) is is_mixed


@pytest.mark.parametrize(
    ("local_part", "is_mixed"),
    [("jane", False), ("j\u0430ne", True), ("jane.иванова", False), ("жанна+news", False)],
)
def test_words_in_different_scripts_are_allowed_in_a_local_part(
    local_part: str, is_mixed: bool
) -> None:
    assert is_mixed_local_part(local_part) is is_mixed
