"""The clients' types are those of the OpenAPI document."""

import pytest

from tools.client_types.__main__ import write_all


@pytest.mark.process
def test_types_are_up_to_date() -> None:
    """If not: `python -m tools.client_types`."""
    assert [file for file, text in write_all().items() if file.read_text() != text] == []
