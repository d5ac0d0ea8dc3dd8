"""The steps of the handbook's procedures are joined by `&&`, so that a failing step ends them."""

import re

from tests.servers.runbook import blocks

HERE_DOCUMENT = re.compile(r"(<<(\w+)[^\n]*)\n.*?\n\2$", re.DOTALL | re.MULTILINE)


def test_procedure_stops_at_the_failing_step() -> None:
    procedures = 0
    for _, block in blocks():
        text = HERE_DOCUMENT.sub(r"\1", block).replace("\\\n", "")
        lines = [re.sub(r"(^|\s+)#.*", "", line).strip() for line in text.splitlines()]
        *steps, _ = (line for line in lines if line)
        # Commands to choose from have no such step.
        if any(step.endswith("&&") for step in steps):
            procedures += 1
            # What follows a pipe fails without input.
            assert [step for step in steps if not step.endswith(("&&", "|"))] == []
    assert procedures >= 22
