"""A new version of a list is taken when it holds what it must, and not otherwise."""

from dataclasses import replace
from datetime import date
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from validation.domain_data.updates import (
    BrokenList,
    checked_updates,
    faults_of_disposable,
    faults_of_suffixes,
    new_disposable,
    new_public_suffixes,
)
from validation.engine.domain_data import DomainData, read_data_file

LISTS = DomainData()


def test_the_lists_are_those_of_the_installed_packages() -> None:
    assert checked_updates() == []
    said = StringIO()
    call_command("update_domain_data", stdout=said)
    assert "already" in said.getvalue()


def test_a_new_list_is_written_with_its_source(tmp_path: Path) -> None:
    update = new_disposable(LISTS)
    update.write(date(2026, 12, 1), tmp_path)
    written = read_data_file("disposable", tmp_path)
    assert frozenset(written.entries) == LISTS.disposable
    assert (written.date, written.version, written.licence) == ("2026-12-01", update.version, "MIT")


@pytest.mark.parametrize(
    ("added", "told"),
    [
        ("gmail.com", "no throw-away domain: gmail.com"),
        ("fastmail.com", "no throw-away domain"),
        ("duck.com", "no throw-away domain"),
        ("co.uk", "whole public suffixes: co.uk"),
        ("not a domain", "no domain: not a domain"),
        ("com", "no domain: com"),
    ],
)
def test_a_list_with_a_wrong_name_is_refused(added: str, told: str) -> None:
    good = new_disposable(LISTS)
    [fault] = faults_of_disposable(replace(good, entries=good.entries | {added}), LISTS)
    assert told in fault


def test_a_list_that_lacks_a_name_is_refused() -> None:
    good = new_disposable(LISTS)
    [fault] = faults_of_disposable(replace(good, entries=good.entries - {"mailinator.com"}), LISTS)
    assert fault == "It lacks: mailinator.com."


def test_a_list_that_shrank_is_refused() -> None:
    good = new_disposable(LISTS)
    few = frozenset(sorted(good.entries)[:100]) | {*read_data_file("always_disposable").entries}
    [fault] = faults_of_disposable(replace(good, entries=few), LISTS)
    assert "instead of" in fault
    suffixes = new_public_suffixes()
    assert len(faults_of_suffixes(replace(suffixes, entries=frozenset({"com"})))) == 2


def test_a_broken_list_says_what_is_wrong() -> None:
    assert str(BrokenList("disposable", ["It lacks: a.com."])) == (
        "The new list disposable is not taken: It lacks: a.com."
    )
