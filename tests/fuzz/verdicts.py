"""Assert that a result follows the documented contract, independently of the engine's code."""

from typing import Any

UNDELIVERABLE = (
    *("invalid_syntax", "reserved_domain", "domain_not_found", "null_mx", "no_mail_server"),
    *("unroutable_mail_server", "impossible_mailbox", "mailbox_not_found", "mailbox_disabled"),
)
RISKY = (
    *("disposable", "parked", "accept_all", "mailbox_full", "unlikely_mailbox", "possible_typo"),
    "mixed_script",
    *("role_account", "no_reply", "smtputf8_required", "no_mx_record"),
)
UNKNOWN = (
    *("dns_timeout", "dns_failure", "smtp_unreachable", "smtp_timeout", "greylisted"),
    *("server_temporary_error", "server_refused_us", "check_failed"),
)
DELIVERABLE = ("mailbox_accepted", "domain_accepts_mail")
VERDICT_BY_REASON = {
    **dict.fromkeys(UNDELIVERABLE, "undeliverable"),
    **dict.fromkeys(RISKY, "risky"),
    **dict.fromkeys(UNKNOWN, "unknown"),
    **dict.fromkeys(DELIVERABLE, "deliverable"),
}
PRECEDENCE = (*UNDELIVERABLE, *RISKY)
SCORES = {
    "undeliverable": range(1),
    "risky": range(10, 70),
    "deliverable": range(70, 86),
    "unknown": {None},
}
WITHOUT_SYNTAX = (
    *("normalized", "canonical", "local_part", "tag", "domain", "ascii_domain"),
    *("registrable_domain", "lookalike_of"),
)
RISK_CHECKS = (
    *("disposable", "mixed_script", "role_account", "no_reply", "smtputf8_required"),
    "null_mx",
)
RETRY = {"dns_timeout": 60, "dns_failure": 300}


def assert_consistent(result: dict[str, Any]) -> None:
    _assert_reasons(result)
    _assert_derived_fields(result)
    if result["reason"] == "invalid_syntax":
        _assert_nothing_else(result)
    else:
        _assert_parts(result)


def _assert_reasons(result: dict[str, Any]) -> None:
    reasons, checks = result["reasons"], result["checks"]
    assert result["reason"] == reasons[0]
    assert result["verdict"] == VERDICT_BY_REASON[reasons[0]]
    if len(reasons) > 1:
        ranks = [PRECEDENCE.index(reason) for reason in reasons]
        assert ranks == sorted(set(ranks))
    is_definite = result["verdict"] != "unknown"
    for name in RISK_CHECKS:
        if name in reasons:
            assert checks[name] is True
        elif is_definite and checks["accepts_mail"] is not None:
            assert not checks[name]
    assert (result["reason"] == "invalid_syntax") is (checks["syntax"] is False)
    assert (result["syntax_error"] is not None) is (checks["syntax"] is False)
    assert ("reserved_domain" in reasons) is bool(checks["reserved_domain"])


def _assert_derived_fields(result: dict[str, Any]) -> None:
    verdict, checks = result["verdict"], result["checks"]
    assert result["score"] in SCORES[verdict]
    is_uncertain = verdict in {"deliverable", "unknown"}
    assert result["safe_to_send"] is (None if is_uncertain else False)
    is_refused = any(checks[name] for name in ("disposable", "no_reply", "mixed_script"))
    assert result["accept_for_signup"] is (verdict != "undeliverable" and not is_refused)
    assert result["retry_after_s"] == RETRY.get(result["reason"])
    assert result["evidence"] in {"syntax", "dns"}
    if verdict == "deliverable":
        assert (result["evidence"], checks["accepts_mail"]) == ("dns", True)
    if result["lookalike_of"]:
        assert checks["accepts_mail"] is False or "parked" in result["reasons"]
    if "possible_typo" in result["reasons"]:
        assert result["did_you_mean"]


def _assert_nothing_else(result: dict[str, Any]) -> None:
    assert {result[name] for name in WITHOUT_SYNTAX} == {None}
    assert {value for name, value in result["checks"].items() if name != "syntax"} == {None}
    assert not any(result["mx"].values())
    assert result["domain_auth"] == {"spf": None, "dmarc": None}
    assert result["syntax_error"]["message"]


def _assert_parts(result: dict[str, Any]) -> None:
    local_part, domain = result["local_part"], result["domain"]
    assert result["normalized"] == f"{local_part}@{domain}"
    assert result["checks"]["smtputf8_required"] is not local_part.isascii()
    assert (result["tag"] is not None) is result["checks"]["has_tag"]
    assert result["ascii_domain"].isascii()
    assert result["ascii_domain"] == result["ascii_domain"].lower()
    assert len(local_part.encode()) <= 64
    assert len(result["ascii_domain"]) <= 253
