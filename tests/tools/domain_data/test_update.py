"""`python -m tools.domain_data.update`: contents and checks of the domain data."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import disposable_email_domains
import pytest

from engine.domain_data import DomainData, read_data_file
from tools.domain_data.exclusions import find_excluded
from tools.domain_data.update import (
    build_disposable,
    build_public_suffixes,
    build_voted,
    disposable_errors,
    find_updates,
    main,
    public_suffix_errors,
    voted_errors,
)

DOMAIN_DATA = DomainData()


def test_domain_data_matches_the_installed_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert find_updates() == []
    main()
    assert "already" in capsys.readouterr().out


def test_update_is_written_with_its_source(tmp_path: Path) -> None:
    update = build_disposable(DOMAIN_DATA)
    update.write(date(2026, 12, 1), tmp_path)
    written = read_data_file("disposable", tmp_path)
    assert frozenset(written.entries) == update.entries <= DOMAIN_DATA.disposable
    assert (written.date, written.version, written.license) == ("2026-12-01", update.version, "MIT")


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ("gmail.com", "aren't disposable: gmail.com"),
        ("fastmail.com", "aren't disposable"),
        ("duck.com", "aren't disposable"),
        ("co.uk", "whole public suffixes: co.uk"),
        ("not a domain", "invalid domains: not a domain"),
        ("com", "invalid domains: com"),
    ],
)
def test_update_with_a_wrong_domain_is_refused(added: str, expected: str) -> None:
    valid = build_disposable(DOMAIN_DATA)
    [error] = disposable_errors(replace(valid, entries=valid.entries | {added}), DOMAIN_DATA)
    assert expected in error


def test_update_leaves_out_what_the_package_is_wrong_about() -> None:
    package, update = disposable_email_domains.blocklist, build_disposable(DOMAIN_DATA)
    wrong = {"sify.com", "21cn.com", "hola.org", "mooo.com"}
    assert wrong & package
    assert not wrong & update.entries


def test_update_leaves_out_names_that_no_other_list_takes_up() -> None:
    unseconded = frozenset(read_data_file("disposable_unseconded").entries)
    update = build_disposable(DOMAIN_DATA)
    assert unseconded <= disposable_email_domains.blocklist
    assert not unseconded & update.entries


def test_voted_names_stay_valid_domains() -> None:
    update = build_voted(DOMAIN_DATA)
    assert update.entries == frozenset(read_data_file("disposable_voted").entries)
    assert voted_errors(update, DOMAIN_DATA) == []


@pytest.mark.parametrize(
    ("name", "is_excluded"),
    [
        ("gmail.com", True),
        ("mail.gmail.com", True),
        ("sify.com", True),
        ("alice.it", True),
        ("33mail.com", True),
        ("co.uk", True),
        ("mooo.com", True),
        ("burner.mooo.com", False),
        ("burner.eu.org", False),
        ("gmial.com", True),
        ("mailinator.com", False),
        ("notgmail.com", False),
    ],
)
def test_protected_shared_and_mistyped_domains_are_excluded(name: str, is_excluded: bool) -> None:
    assert (name in find_excluded([name], DOMAIN_DATA)) is is_excluded


def test_update_that_misses_a_domain_is_refused() -> None:
    valid = build_disposable(DOMAIN_DATA)
    [error] = disposable_errors(
        replace(valid, entries=valid.entries - {"mailinator.com"}), DOMAIN_DATA
    )
    assert error == "It is missing domains: mailinator.com."


def test_update_that_shrinks_the_data_is_refused() -> None:
    valid = build_disposable(DOMAIN_DATA)
    few = frozenset(sorted(valid.entries)[:100]) | {*read_data_file("always_disposable").entries}
    [error] = disposable_errors(replace(valid, entries=few), DOMAIN_DATA)
    assert "instead of" in error
    suffixes = build_public_suffixes()
    assert len(public_suffix_errors(replace(suffixes, entries=frozenset({"com"})))) == 2
