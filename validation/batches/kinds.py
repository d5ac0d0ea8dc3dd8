"""Compute once what results of a batch share that differ in their address only.

A batch has a hundred addresses at a few domains, so most of its results are of a few kinds. Their
JSON and their request log rows are rendered from the first result of each kind.
"""

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

import orjson

from apikeys.rest.responses import render
from validation.charging.settlement import Validation
from validation.engine.verdicts.finding import OWN_FIELDS
from validation.engine.verdicts.reasons import Verdict
from validation.request_log import writer

_OWN_FIELDS = ("id", *OWN_FIELDS)
# Can't be part of JSON, where a NUL is escaped.
_GAP = b"\0"


class Kind(NamedTuple):
    number: int
    verdict: Verdict
    is_sandbox: bool
    cost: int
    # Of the request log: `writer.shared_columns`.
    columns: dict[str, object]
    # The JSON in pieces. Every other one is empty, for a field of the address.
    pieces: list[bytes]


class BatchResult(NamedTuple):
    validation: Validation
    kind: Kind
    # Without the credits, and without the closing brace.
    json: bytes


def describe_results(validations: Iterable[Validation]) -> Iterator[BatchResult]:
    """Return the validations, of one batch, with their kinds and their JSON."""
    kinds: dict[Hashable, Kind] = {}
    for validation in validations:
        key = (validation.is_sandbox, *validation.finding.facts)
        kind = kinds.get(key)
        if kind is None:
            kind = kinds[key] = _describe(len(kinds), validation)
        yield BatchResult(validation, kind, _fill(kind.pieces, validation))


def _describe(number: int, validation: Validation) -> Kind:
    document = validation.document() | dict.fromkeys(_OWN_FIELDS, orjson.Fragment(_GAP))
    json = render(document).removesuffix(b"}")
    return Kind(
        number,
        validation.finding.verdict,
        validation.is_sandbox,
        validation.cost,
        writer.shared_columns(validation),
        json.replace(_GAP, _GAP * 2).split(_GAP),
    )


def _fill(pieces: list[bytes], validation: Validation) -> bytes:
    filled = pieces.copy()
    filled[1::2] = map(orjson.dumps, (validation.id, *validation.finding.own_values()))
    return b"".join(filled)
