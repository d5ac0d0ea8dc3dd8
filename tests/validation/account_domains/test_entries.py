"""What customers may write into their lists of domains, and what is stored."""

import pytest

from validation.account_domains.entries import MAX_PROBLEMS, parse_entries, quote_entry


def parse(text: str) -> str:
    """Return the domain, or the sentence that says what is wrong."""
    domains, problems = parse_entries([text])
    return domains[0] if domains else problems[0]


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("shop.example", "shop.example"),
        ("Shop.EXAMPLE", "shop.example"),
        (" shop.example\t", "shop.example"),
        ("shop.example.", "shop.example"),
        ("@shop.example", "shop.example"),
        ("mail.eu.shop.example", "mail.eu.shop.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("shop。example", "shop.example"),
        ("shop.co.uk", "shop.co.uk"),
        ("sandbox.test", "sandbox.test"),
    ],
)
def test_domain_is_stored_in_the_form_that_results_have(text: str, domain: str) -> None:
    assert parse(text) == domain


@pytest.mark.parametrize("text", ["com", "COM", "co.uk", "Co.Uk.", "github.io", "foo.ck"])
def test_public_suffix_is_refused_and_named(text: str) -> None:
    assert parse(text) == f"“{text}” is a public suffix with many owners. Enter a domain below it."


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("*.shop.example", "has a wildcard. Remove “*.”: a domain also covers its subdomains."),
        ("@*.shop.example", "has a wildcard. Remove “*.”: a domain also covers its subdomains."),
        ("jane@shop.example", "is an address. Enter only the part after the @."),
        ("https://shop.example/", "is a URL. Enter only its domain."),
        ("192.0.2.1", "is an IP address. Enter a domain."),
        ("[192.0.2.1]", "is an IP address. Enter a domain."),
        ("2001:db8::1", "is an IP address. Enter a domain."),
        ("[IPv6:2001:db8::1]", "is an IP address. Enter a domain."),
        ("localhost", "isn't a domain, such as shop.example."),
        ("a..example", "isn't a domain, such as shop.example."),
        ("shop_1.example", "isn't a domain, such as shop.example."),
        ("one.example, two.example", "isn't a domain, such as shop.example."),
        ("nul\0.example", "isn't a domain, such as shop.example."),
        ("a" * 64 + ".example", "isn't a domain, such as shop.example."),
    ],
)
def test_anything_else_is_refused_with_what_to_enter(text: str, error: str) -> None:
    assert parse(text) == f"{quote_entry(text)} {error}"


def test_repeated_domain_is_stored_once_in_its_first_place() -> None:
    domains, problems = parse_entries(["b.example", "a.example", "@B.example.", "b.example"])
    assert (domains, problems) == (["b.example", "a.example"], {})


def test_problems_have_the_places_of_their_entries() -> None:
    domains, problems = parse_entries(["a.example", "com", "b.example", "localhost"])
    assert domains == ["a.example", "b.example"]
    assert [*problems] == [1, 3]


def test_only_the_first_problems_are_reported() -> None:
    assert len(parse_entries(["com"] * 100)[1]) == MAX_PROBLEMS


def test_api_key_is_never_quoted() -> None:
    secret = "svc_live_" + "a" * 38
    assert parse(secret) == "An entry with an API key isn't a domain, such as shop.example."
    assert "svc_live_aaaa" not in parse("x" * 70 + secret)


def test_long_entry_is_shortened() -> None:
    assert quote_entry("x" * 5_000) == f"“{'x' * 80}…”"
