"""Compute once what results of a batch share that differ in their address and domain only.

Most results of a batch are of a few kinds, however many domains it has. Their JSON and their
request log rows are made from those of the first result of each kind.
"""

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

import orjson

from apikeys.rest.responses import render
from validation.charging.settlement import Validation
from validation.engine.verdicts.finding import OWN_FIELDS
from validation.engine.verdicts.reasons import Verdict
from validation.request_log import writer

_OWN_FIELDS = ("id", *OWN_FIELDS, "mx")
# Can't be part of JSON, where a NUL is escaped.
_GAP = b"\0"


class Kind(NamedTuple):
    number: int
    verdict: Verdict
    is_sandbox: bool
    cost: int
    # Of the request log: `writer.shared_columns`.
    columns: dict[str, object]
    # The JSON in pieces. Every other one is empty, for one of _OWN_FIELDS.
    pieces: list[bytes]


class BatchResult(NamedTuple):
    validation: Validation
    kind: Kind
    # Without the credits, and without the closing brace.
    json: bytes


def describe_results(validations: Iterable[Validation]) -> Iterator[BatchResult]:
    """Return the validations, of one batch, with their kinds and their JSON."""
    kinds: dict[Hashable, Kind] = {}
    # The field `mx` by the route's identity: addresses of a domain have the same route.
    mail_hosts: dict[int, bytes] = {}
    for validation in validations:
        finding = validation.finding
        key = (validation.is_sandbox, *finding.facts)
        kind = kinds.get(key) or kinds.setdefault(key, _describe(len(kinds), validation))
        route = id(finding.route)
        mx = mail_hosts.get(route) or mail_hosts.setdefault(route, render(finding.mail_hosts()))
        yield BatchResult(validation, kind, _fill(kind.pieces, validation, mx))


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


def _fill(pieces: list[bytes], validation: Validation, mx: bytes) -> bytes:
    filled, own = pieces.copy(), (validation.id, *validation.finding.own_values())
    filled[1::2] = (*map(orjson.dumps, own), mx)
    return b"".join(filled)
