"""Questions and answers of the DNS as bytes, and what an answer says to the question. Pure.

dnspython reads names, where the traps are; the rest is read here, for its messages of whole objects
take several times as long as everything else that a cold call does.
"""

import re
import socket
import struct
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

import dns.exception
import dns.name

from validation.engine.dns.networks import is_public

# RFC 6891: what a UDP answer may measure without being cut to pieces on its way.
_PAYLOAD = 1232
_RECURSION_DESIRED, _IS_ANSWER, _OPCODE, _TRUNCATED, _CODE = 0x0100, 0x8000, 0x7800, 0x0200, 0xF
_HEADER, _RECORD, _KIND = struct.Struct("!HHHHHH"), struct.Struct("!HHIH"), struct.Struct("!HH")
_INTERNET = 1
_TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "MX": 15, "TXT": 16, "AAAA": 28, "OPT": 41}
_OPTIONS = b"\0" + _RECORD.pack(_TYPES["OPT"], _PAYLOAD, 0, 0)
_AUTHORITATIVE, _RECURSES = 0x0400, 0x0080
_NO_ERROR, _FORMAT_ERROR, _NAME_ERROR, _NOT_IMPLEMENTED = 0, 1, 3, 4
_DOES_NOT_UNDERSTAND = {_FORMAT_ERROR, _NOT_IMPLEMENTED}
# A name may stand for another, but not without end.
_LONGEST_CHAIN = 10
_POINTER = 0xC0
_NAME_IN_QUESTION = bytes((_POINTER, _HEADER.size))
# A message of more is not read: what belongs to a mail domain is never so much.
_MOST_RECORDS, _MOST_NAMES = 2_000, 200
# What is kept of one answer.
MOST_HOSTS, _MOST_ADDRESSES, _MOST_TEXTS, _LONGEST_TEXT = 100, 8, 4, 4_096
_POLICY = re.compile(r"\s*v\s*=\s*(spf1|dmarc1)(\W|$)", re.IGNORECASE)


class Question(NamedTuple):
    name: str
    # MX, A, AAAA or TXT
    type: str


class Outcome(Enum):
    FOUND = "found"
    # The name exists, but has nothing of that type.
    NO_DATA = "no data"
    NO_NAME = "no name"
    # The server could not tell: SERVFAIL, REFUSED, a loop, a contradiction.
    FAILURE = "failure"
    TIMEOUT = "timeout"
    # We did not ask to the end: the lookup's budget of messages was used up.
    OVER_BUDGET = "over budget"
    # The name stands for another one, whose records the server did not bring along.
    ALIAS = "alias"


class Reply(NamedTuple):
    outcome: Outcome
    # (preference, host) of MX; addresses and texts as str
    records: tuple[Any, ...] = ()
    # None: it does not say how long it holds.
    ttl: float | None = None
    alias: str = ""
    is_truncated: bool = False
    # RFC 6891, 6.2.2: an old server that does not understand the question's options.
    is_unread: bool = False
    # Neither does the server look after the name, nor does it ask others.
    is_weak: bool = False


FAILURE, OVER_BUDGET = Reply(Outcome.FAILURE), Reply(Outcome.OVER_BUDGET)


class _Record(NamedTuple):
    name: dns.name.Name
    type: int
    ttl: int
    # Where its data lie in the message.
    start: int
    end: int


def question_wire(question: Question, identifier: int, *, has_options: bool = True) -> bytes:
    header = _HEADER.pack(identifier, _RECURSION_DESIRED, 1, 0, 0, has_options)
    return header + _question_section(question) + (_OPTIONS if has_options else b"")


def identifier_of(wire: bytes) -> int | None:
    return int.from_bytes(wire[:2], "big") if len(wire) >= _HEADER.size else None


def read_reply(wire: bytes, question: Question) -> Reply | None:
    """None for what is no answer to this question: somebody else's, or no message at all."""
    if len(wire) < _HEADER.size:
        return None
    _, flags, questions, *counts = _HEADER.unpack_from(wire)
    if not flags & _IS_ANSWER or flags & _OPCODE:
        return None
    code = flags & _CODE
    asked = _question_section(question)
    start = _HEADER.size
    if questions != 1 or wire[start : start + len(asked)].lower() != asked.lower():
        # Who did not understand a question may answer without repeating it.
        is_refusal = questions == 0 and code not in {_NO_ERROR, _NAME_ERROR}
        is_unread = code in _DOES_NOT_UNDERSTAND
        return Reply(Outcome.FAILURE, is_unread=is_unread) if is_refusal else None
    if flags & _TRUNCATED:
        return Reply(Outcome.FAILURE, is_truncated=True)
    try:
        reply = _read(wire, question, code, counts)
    except (dns.exception.DNSException, struct.error, ValueError, IndexError):
        return FAILURE
    says_nothing = reply.outcome in {Outcome.NO_DATA, Outcome.NO_NAME} and reply.ttl is None
    return reply._replace(is_weak=says_nothing and not flags & (_AUTHORITATIVE | _RECURSES))


def _read(wire: bytes, question: Question, code: int, counts: list[int]) -> Reply:
    start = _HEADER.size + len(_question_section(question))
    records = list(_records(wire, start, counts, question))
    options = next((one for one in records if one.type == _TYPES["OPT"]), None)
    if options is not None:
        # RFC 6891, 6.1.3: the upper bits of the code.
        code |= options.ttl >> 24 << 4
    if code not in {_NO_ERROR, _NAME_ERROR}:
        return Reply(Outcome.FAILURE, is_unread=code in _DOES_NOT_UNDERSTAND)
    answers, authority = records[: counts[0]], records[counts[0] : counts[0] + counts[1]]
    return _follow(wire, question, answers, authority, does_not_exist=code == _NAME_ERROR)


def _follow(
    wire: bytes,
    question: Question,
    answers: list[_Record],
    authority: list[_Record],
    *,
    does_not_exist: bool,
) -> Reply:
    """Only what belongs to the question counts: the chain of names that begins with it."""
    name = _name(question.name) if answers else dns.name.root
    ttls: list[int] = []
    for _ in range(_LONGEST_CHAIN + 1):
        found = [one for one in answers if one.type == _TYPES[question.type] and one.name == name]
        if found:
            # A name that does not exist has no records: who says both knows nothing.
            if does_not_exist:
                return FAILURE
            ttl = min([*ttls, *(one.ttl for one in found)])
            return Reply(Outcome.FOUND, _values(wire, question.type, found), ttl)
        alias = next((o for o in answers if o.type == _TYPES["CNAME"] and o.name == name), None)
        if alias is None:
            return _nothing(wire, name, ttls, authority, does_not_exist=does_not_exist)
        ttls.append(alias.ttl)
        name = _name_at(wire, alias.start)
    return FAILURE


def _nothing(
    wire: bytes,
    name: dns.name.Name,
    ttls: list[int],
    authority: list[_Record],
    *,
    does_not_exist: bool,
) -> Reply:
    owner = next((one for one in authority if one.type == _TYPES["SOA"]), None)
    ttl = None
    if owner is not None:
        # RFC 2308, 5: so long may be remembered that there is nothing.
        minimum = int.from_bytes(wire[owner.end - 4 : owner.end], "big")
        ttl = min([*ttls, owner.ttl, minimum])
    if does_not_exist:
        return Reply(Outcome.NO_NAME, ttl=ttl)
    if owner is None and ttls:
        if name == dns.name.root:
            return FAILURE
        return Reply(Outcome.ALIAS, ttl=min(ttls), alias=_text(name))
    if owner is None and any(one.type == _TYPES["NS"] for one in authority):
        # It points to others instead of answering: it does not look after this name.
        return FAILURE
    return Reply(Outcome.NO_DATA, ttl=ttl)


def _records(
    wire: bytes, position: int, counts: list[int], question: Question
) -> Iterator[_Record]:
    """Of the answers with their names; of the other sections types and data are enough."""
    names = {_NAME_IN_QUESTION: _name(question.name)} if counts[0] else {}
    if sum(counts) > _MOST_RECORDS:
        raise ValueError("Too many records")
    for place in range(sum(counts)):
        start, position = position, _end_of_name(wire, position)
        name = dns.name.root
        if place < counts[0]:
            # Mostly a pointer, to what others point to as well.
            written = wire[start:position]
            if written not in names:
                names[written] = _name_at(wire, start)
            name = names[written]
        if len(names) > _MOST_NAMES:
            raise ValueError("Too many names")
        kind, network, ttl, size = _RECORD.unpack_from(wire, position)
        start = position + _RECORD.size
        position = start + size
        if position > len(wire):
            raise ValueError("A record is longer than the message")
        # The class and the TTL of OPT are neither.
        is_ours = network == _INTERNET or kind == _TYPES["OPT"]
        if kind != _TYPES["OPT"] and ttl >> 31:
            ttl = 0  # RFC 2181, 8
        yield _Record(name, kind if is_ours else 0, ttl, start, position)


def _end_of_name(wire: bytes, position: int) -> int:
    while wire[position]:
        if wire[position] >= _POINTER:
            return position + 2
        position += 1 + wire[position]
    return position + 1


def _values(wire: bytes, kind: str, found: list[_Record]) -> tuple[Any, ...]:
    """What can matter of them, that one answer fills neither the memory nor the time."""
    different = list({wire[one.start : one.end]: one for one in reversed(found)}.values())
    if kind == "MX":
        # By their preference, which comes first; one more than is looked at tells that there are.
        different.sort(key=lambda one: wire[one.start : one.start + 2])
        hosts = {_value(wire, one) for one in different[: MOST_HOSTS + 1]}
        return tuple(sorted(hosts))
    values = [_value(wire, one) for one in different]
    if kind != "TXT":
        return tuple(sorted(values, key=is_public, reverse=True)[:_MOST_ADDRESSES])
    policies = [text for text in values if _POLICY.match(text)]
    if any(len(text) > _LONGEST_TEXT for text in policies):
        raise ValueError("A policy is longer than any")
    return tuple(policies[:_MOST_TEXTS])


def _value(wire: bytes, record: _Record) -> Any:
    data = wire[record.start : record.end]
    if record.type == _TYPES["A"]:
        return socket.inet_ntop(socket.AF_INET, data)
    if record.type == _TYPES["AAAA"]:
        return socket.inet_ntop(socket.AF_INET6, data)
    if record.type == _TYPES["MX"]:
        host = _name_at(wire[: record.end], record.start + 2)
        return int.from_bytes(data[:2], "big"), _text(host).lower()
    return "".join(part.decode("latin-1") for part in _strings(data))


def _strings(data: bytes) -> Iterator[bytes]:
    while data:
        end = 1 + data[0]
        if end > len(data):
            raise ValueError("A text is longer than its record")
        yield data[1:end]
        data = data[end:]


@lru_cache(maxsize=1024)
def _question_section(question: Question) -> bytes:
    if "\\" in question.name:
        name = _name(question.name).to_wire() or b""
    else:
        labels = question.name.encode("ascii").split(b".")
        name = b"".join(bytes((len(label),)) + label for label in labels) + b"\0"
    return name + _KIND.pack(_TYPES[question.type], _INTERNET)


@lru_cache(maxsize=1024)
def _name(text: str) -> dns.name.Name:
    return dns.name.from_text(text)


def _name_at(wire: bytes, position: int) -> dns.name.Name:
    return dns.name.from_wire(wire, position)[0]


def _text(name: dns.name.Name) -> str:
    """Of the root a period, of the others no last one."""
    return name.to_text(omit_final_dot=name != dns.name.root)
