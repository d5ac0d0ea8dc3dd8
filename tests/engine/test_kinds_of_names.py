"""Which mailboxes and domains are of which kind: names.tsv."""

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.domain_data import DomainData
from engine.machine_addresses import is_machine_mailbox
from tests.engine.tables import names_of

DATA = DomainData()
KINDS: dict[str, Callable[[str], bool]] = {
    "role": DATA.is_role_account,
    "no-reply": DATA.is_no_reply,
    "placeholder": DATA.is_placeholder,
    "machine": is_machine_mailbox,
    "free provider": DATA.free_providers.__contains__,
    "relay": DATA.is_relay,
    "reserved": DATA.is_reserved,
}
# Common given and family names of many countries, and those that are a role in some language.
NAMES = (Path(__file__).parent / "personal_names.txt").read_text().split()


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_a_kind_are_recognized_and_similar_ones_are_not(kind: str) -> None:
    is_of_kind = KINDS[kind]
    assert names_of(kind)
    assert [name for name in names_of(kind) if not is_of_kind(name)] == []
    assert [name for name in names_of(f"not {kind}") if is_of_kind(name)] == []


def test_no_personal_name_is_of_a_kind() -> None:
    assert not (DATA.role_accounts | DATA.no_reply | DATA.placeholders) & {*NAMES}
    assert not any(is_machine_mailbox(f"{name}+news") for name in NAMES)
