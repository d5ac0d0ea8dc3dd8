"""Whether a text is an address at all: RFC 5321, 6531 and 5890, as email-validator reads them."""

from email_validator import (
    SPECIAL_USE_DOMAIN_NAMES,
    EmailNotValidError,
    ValidatedEmail,
    validate_email,
)

from validation.engine.aliases import canonical_address
from validation.engine.verdict import Parts, SyntaxProblem

# RFC 2606 and 6761: names that no mail ever reaches, and all below them.
RESERVED = frozenset(
    {
        *("test", "invalid", "localhost", "local", "onion", "arpa"),
        *("example", "example.com", "example.net", "example.org"),
    }
)
# The library would call them wrong syntax. They are addresses, at names that take no mail.
SPECIAL_USE_DOMAIN_NAMES.clear()
# RFC 5321, 4.5.3.1.3: 254 characters fit between the angle brackets. Nothing longer is looked at.
LONGEST = 254


def parse_address(email: str) -> Parts | SyntaxProblem:
    if len(email) > LONGEST:
        return SyntaxProblem("too_long", f"An address has at most {LONGEST} characters.")
    try:
        address = validate_email(
            email,
            check_deliverability=False,
            allow_quoted_local=True,
            globally_deliverable=False,
            strict=True,
        )
    except EmailNotValidError as error:
        return SyntaxProblem(_code(email), str(error))
    if "." not in address.ascii_domain:
        return SyntaxProblem("invalid_domain", "The part after the @-sign should have a period.")
    return _parts(address)


def is_reserved(ascii_domain: str) -> bool:
    labels = ascii_domain.split(".")
    return any(".".join(labels[start:]) in RESERVED for start in range(len(labels)))


def _parts(address: ValidatedEmail) -> Parts:
    local, separator, tag = address.local_part.partition("+")
    tagged = bool(separator and tag and local) and not local.startswith('"')
    return Parts(
        normalized=address.normalized,
        local_part=address.local_part,
        tag=tag if tagged else None,
        domain=address.domain,
        canonical=canonical_address(address.local_part, address.domain),
        ascii_domain=address.ascii_domain,
    )


def _code(email: str) -> str:
    local, at_sign, domain = email.rpartition("@")
    if not at_sign:
        return "no_at_sign"
    if not domain:
        return "empty_domain"
    if not local:
        return "empty_local_part"
    return "invalid_address"
