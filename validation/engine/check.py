"""The door of the engine: one address in, one finding out."""

from validation.engine.syntax import is_reserved, parse_address
from validation.engine.verdict import Finding, Parts, SyntaxProblem


def check(email: str) -> Finding:
    address = parse_address(email)
    if isinstance(address, SyntaxProblem):
        return Finding(
            email, ("invalid_syntax",), "syntax", checks={"syntax": False}, syntax_problem=address
        )
    checks = _checks(address)
    # What the syntax cannot decide is not guessed.
    reason = "reserved_domain" if checks["reserved_domain"] else "check_failed"
    return Finding(email, (reason,), "syntax", address, checks)


def _checks(address: Parts) -> dict[str, bool]:
    return {
        "syntax": True,
        "has_tag": address.tag is not None,
        "reserved_domain": is_reserved(address.ascii_domain or ""),
        "smtputf8_required": not (address.local_part or "").isascii(),
    }
