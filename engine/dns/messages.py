"""Encode DNS queries and parse replies, several times faster than dnspython."""

import re
import socket
import struct
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from engine.dns.names import POINTER, ROOT, encode_name, read_name, skip_name, to_text
from engine.dns.networks import is_public

# Avoids fragmentation (RFC 6891).
_UDP_PAYLOAD_SIZE = 1232
_RECURSION_DESIRED, _IS_RESPONSE, _OPCODE, _TRUNCATED, _CODE = 0x0100, 0x8000, 0x7800, 0x0200, 0xF
_HEADER, _RECORD = struct.Struct("!HHHHHH"), struct.Struct("!HHIH")
_TYPE_AND_CLASS = struct.Struct("!HH")
_INTERNET = 1
_TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "MX": 15, "TXT": 16, "AAAA": 28, "OPT": 41}
_EDNS_OPTIONS = b"\0" + _RECORD.pack(_TYPES["OPT"], _UDP_PAYLOAD_SIZE, 0, 0)
_AUTHORITATIVE, _RECURSION_AVAILABLE = 0x0400, 0x0080
_NO_ERROR, _FORMAT_ERROR, _SERVER_FAILURE, _NAME_ERROR, _NOT_IMPLEMENTED = range(5)
_BAD_VERSION = 16
_EDNS_REJECTIONS = {_FORMAT_ERROR, _NOT_IMPLEMENTED, _BAD_VERSION}
_MAX_CNAME_CHAIN = 10
_POINTER_TO_QUESTION = bytes((POINTER, _HEADER.size))
_MAX_RECORDS, _MAX_NAMES = 2_000, 200
MAX_MAIL_HOSTS, _MAX_ADDRESSES, _MAX_POLICIES, _MAX_POLICY_LENGTH = 100, 8, 4, 4_096
_POLICY = re.compile(r"\s*v\s*=\s*(spf1|dmarc1)(\W|$)", re.IGNORECASE)


class Query(NamedTuple):
    name: str
    type: str


class Outcome(Enum):
    FOUND = "found"
    NO_DATA = "no data"
    NXDOMAIN = "no name"
    FAILURE = "failure"
    TIMEOUT = "timeout"
    OVER_BUDGET = "over budget"
    # An alias without its target's records.
    ALIAS = "alias"


class ParsedReply(NamedTuple):
    outcome: Outcome
    # (preference, host) of MX; addresses and texts as str
    records: tuple[Any, ...] = ()
    ttl: float | None = None
    alias: str = ""
    is_truncated: bool = False
    # RFC 6891, 6.1.3 and 7
    rejects_edns: bool = False
    # Some servers send SERVFAIL for the same reason.
    is_server_failure: bool = False
    # Neither authoritative nor recursive.
    is_lame: bool = False


FAILURE, OVER_BUDGET = ParsedReply(Outcome.FAILURE), ParsedReply(Outcome.OVER_BUDGET)


class _Record(NamedTuple):
    name: bytes
    type: int
    ttl: int
    start: int
    end: int


def encode_query(query: Query, identifier: int, *, has_edns: bool = True) -> bytes:
    header = _HEADER.pack(identifier, _RECURSION_DESIRED, 1, 0, 0, has_edns)
    return header + _question_section(query) + (_EDNS_OPTIONS if has_edns else b"")


def read_identifier(wire: bytes) -> int:
    return int.from_bytes(wire[:2], "big")


def parse_reply(wire: bytes, query: Query) -> ParsedReply | None:
    """Return None for a packet that doesn't reply to this query."""
    if len(wire) < _HEADER.size:
        return None
    _, flags, question_count, *counts = _HEADER.unpack_from(wire)
    if not flags & _IS_RESPONSE or flags & _OPCODE:
        return None
    code = flags & _CODE
    question = _question_section(query)
    start = _HEADER.size
    received = wire[start : start + len(question)]
    if question_count != 1 or received.lower() != question.lower():
        # A server that can't parse the query may omit it.
        is_refusal = question_count == 0 and code not in {_NO_ERROR, _NAME_ERROR}
        return _failed_reply(code) if is_refusal else None
    if flags & _TRUNCATED:
        return ParsedReply(Outcome.FAILURE, is_truncated=True)
    try:
        records = list(_parse_records(wire, start + len(question), counts, query))
        options = next((record for record in records if record.type == _TYPES["OPT"]), None)
        if options is not None:
            # RFC 6891, 6.1.3: OPT has the code's upper bits.
            code |= options.ttl >> 24 << 4
        answers, authority = records[: counts[0]], records[counts[0] : counts[0] + counts[1]]
        if code in {_NO_ERROR, _NAME_ERROR}:
            is_nxdomain = code == _NAME_ERROR
            reply = _follow_cnames(wire, query, answers, authority, is_nxdomain=is_nxdomain)
        else:
            reply = _failed_reply(code)
    except (struct.error, ValueError, IndexError):
        return FAILURE
    is_empty = reply.outcome in {Outcome.NO_DATA, Outcome.NXDOMAIN} and reply.ttl is None
    return reply._replace(is_lame=is_empty and not flags & (_AUTHORITATIVE | _RECURSION_AVAILABLE))


def _failed_reply(code: int) -> ParsedReply:
    return ParsedReply(
        Outcome.FAILURE,
        rejects_edns=code in _EDNS_REJECTIONS,
        is_server_failure=code == _SERVER_FAILURE,
    )


def _follow_cnames(
    wire: bytes,
    query: Query,
    answers: list[_Record],
    authority: list[_Record],
    *,
    is_nxdomain: bool,
) -> ParsedReply:
    name = encode_name(query.name)
    record_type = _TYPES[query.type]
    ttls: list[int] = []
    for _ in range(_MAX_CNAME_CHAIN + 1):
        matching = [
            record
            for record in answers
            if record.type == record_type and record.name == name.lower()
        ]
        if matching:
            # NXDOMAIN contradicts the records.
            if is_nxdomain:
                return FAILURE
            ttl = min([*ttls, *(record.ttl for record in matching)])
            return ParsedReply(Outcome.FOUND, _decode_records(wire, query.type, matching), ttl)
        aliases = (record for record in answers if record.type == _TYPES["CNAME"])
        alias = next((record for record in aliases if record.name == name.lower()), None)
        if alias is None:
            if answers and not ttls and all(record.name != name.lower() for record in answers):
                # All belong to other names.
                return FAILURE
            return _read_negative(wire, name, ttls, authority, is_nxdomain=is_nxdomain)
        ttls.append(alias.ttl)
        name = read_name(wire, alias.start)
    return FAILURE


def _read_negative(
    wire: bytes,
    name: bytes,
    ttls: list[int],
    authority: list[_Record],
    *,
    is_nxdomain: bool,
) -> ParsedReply:
    soa = next((record for record in authority if record.type == _TYPES["SOA"]), None)
    ttl = None
    if soa is not None:
        # RFC 2308, 5
        minimum = int.from_bytes(wire[soa.end - 4 : soa.end], "big")
        ttl = min([*ttls, soa.ttl, minimum])
    if is_nxdomain:
        return ParsedReply(Outcome.NXDOMAIN, ttl=ttl)
    if soa is None and ttls:
        if name == ROOT:
            return FAILURE
        return ParsedReply(Outcome.ALIAS, ttl=min(ttls), alias=to_text(name))
    if soa is None and any(record.type == _TYPES["NS"] for record in authority):
        # A referral.
        return FAILURE
    return ParsedReply(Outcome.NO_DATA, ttl=ttl)


def _parse_records(
    wire: bytes, position: int, counts: list[int], query: Query
) -> Iterator[_Record]:
    names = {_POINTER_TO_QUESTION: encode_name(query.name).lower()}
    if sum(counts) > _MAX_RECORDS:
        raise ValueError("Too many records")
    for index in range(sum(counts)):
        start, position = position, skip_name(wire, position)
        name = ROOT
        if index < counts[0]:
            encoded = wire[start:position]
            if encoded not in names:
                names[encoded] = read_name(wire, start).lower()
            name = names[encoded]
        if len(names) > _MAX_NAMES:
            raise ValueError("Too many names")
        record_type, record_class, ttl, size = _RECORD.unpack_from(wire, position)
        start = position + _RECORD.size
        position = start + size
        if position > len(wire):
            raise ValueError("A record is longer than the message")
        # OPT's class and TTL mean something else.
        is_known = record_class == _INTERNET or record_type == _TYPES["OPT"]
        if record_type != _TYPES["OPT"] and ttl >> 31:
            ttl = 0  # RFC 2181, 8
        yield _Record(name, record_type if is_known else 0, ttl, start, position)


def _decode_records(wire: bytes, record_type: str, records: list[_Record]) -> tuple[Any, ...]:
    by_data = {wire[record.start : record.end]: record for record in reversed(records)}
    unique = list(by_data.values())
    if record_type == "MX":
        # Sort by preference, the first two bytes. One host more shows that there are others.
        unique.sort(key=lambda record: wire[record.start : record.start + 2])
        hosts = {_decode_record(wire, record) for record in unique[: MAX_MAIL_HOSTS + 1]}
        return tuple(sorted(hosts))
    values = [_decode_record(wire, record) for record in unique]
    if record_type != "TXT":
        values.sort(key=is_public, reverse=True)
        # The last one isn't public if any isn't.
        return (*values[: _MAX_ADDRESSES - 1], *values[_MAX_ADDRESSES - 1 :][-1:])
    policies = [text for text in values if _POLICY.match(text)]
    if any(len(text) > _MAX_POLICY_LENGTH for text in policies):
        raise ValueError("A policy is too long")
    return tuple(policies[:_MAX_POLICIES])


def _decode_record(wire: bytes, record: _Record) -> Any:
    data = wire[record.start : record.end]
    if record.type == _TYPES["A"]:
        return socket.inet_ntop(socket.AF_INET, data)
    if record.type == _TYPES["AAAA"]:
        return socket.inet_ntop(socket.AF_INET6, data)
    if record.type == _TYPES["MX"]:
        host = read_name(wire[: record.end], record.start + 2)
        return int.from_bytes(data[:2], "big"), to_text(host).lower()
    parts = []
    while data:
        end = 1 + data[0]
        if end > len(data):
            raise ValueError("A text is longer than its record")
        parts.append(data[1:end].decode("latin-1"))
        data = data[end:]
    return "".join(parts)


@lru_cache(maxsize=1024)
def _question_section(query: Query) -> bytes:
    return encode_name(query.name) + _TYPE_AND_CLASS.pack(_TYPES[query.type], _INTERNET)
