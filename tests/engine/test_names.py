"""Names in DNS messages are read as dnspython reads them, and whatever it refuses is refused."""

import dns.exception
import dns.name
from hypothesis import example, given
from hypothesis import strategies as st

from engine.dns.names import encode_name, read_name, to_text

# Half of the octets are replaced by lengths, pointers and zeros, so that many names are readable.
_FREQUENT = bytes([0, 0, 1, 2, 3, 12, 63, 64, 0x80, 0xC0, 0xC0, 0xFF, *b"aZ.\\"])
_MESSAGES = st.binary(max_size=80).map(
    lambda octets: octets.translate(bytes(range(128)) + _FREQUENT * 8)
)
_LABELS = st.lists(st.binary(min_size=1, max_size=63), max_size=6)


def read(wire: bytes, position: int) -> tuple[bytes, str] | None:
    try:
        name = read_name(wire, position)
    except (ValueError, IndexError):
        return None
    return name, to_text(name)


def read_with_dnspython(wire: bytes, position: int) -> tuple[bytes | None, str] | None:
    try:
        name, _ = dns.name.from_wire(wire, position)
    except dns.exception.DNSException:
        return None
    return name.to_wire(), name.to_text(omit_final_dot=name != dns.name.root)


@given(wire=_MESSAGES)
# A loop, a pointer forward, one outside the message, and an endless run of pointers.
@example(b"\xc0\x00")
@example(b"\x01a\xc0\x00")
@example(b"\xc0\x02\x00")
@example(b"\xff\xff")
@example(b"\xc0\x00" * 40)
# A pointer to a name that contains the pointer, and a long chain of pointers.
@example(b"\x02\x00\xc0\x00")
@example(b"\0\0" + b"".join(bytes((0xC0, 2 * number)) for number in range(40)))
# The longest name, and one that is longer.
@example((b"\x3f" + b"a" * 63) * 3 + b"\x3d" + b"a" * 61 + b"\0")
@example((b"\x3f" + b"a" * 63) * 3 + b"\x3e" + b"a" * 62 + b"\0")
def test_every_position_of_a_message_is_read_as_dnspython_does(wire: bytes) -> None:
    for position in range(len(wire)):
        assert read(wire, position) == read_with_dnspython(wire, position)


@given(labels=_LABELS, prefix=st.binary(max_size=20))
def test_any_label_is_written_and_read_as_dnspython_does(
    labels: list[bytes], prefix: bytes
) -> None:
    try:
        name = dns.name.Name([*labels, b""])
    except dns.name.NameTooLong:
        return
    wire = name.to_wire() or b""
    text = name.to_text(omit_final_dot=bool(labels))
    assert read(prefix + wire, len(prefix)) == (wire, text)
    if labels:
        assert encode_name(text) == wire


@given(labels=_LABELS, others=_LABELS)
@example([b"Shop", b"COM"], [b"shop", b"com"])
@example([b"a.b"], [b"a", b"b"])
def test_names_are_equal_in_lower_case_if_they_are_for_dnspython(
    labels: list[bytes], others: list[bytes]
) -> None:
    try:
        names = [dns.name.Name([*each, b""]) for each in (labels, others)]
    except dns.name.NameTooLong:
        return
    wires = [read_name(name.to_wire() or b"", 0).lower() for name in names]
    assert (wires[0] == wires[1]) is (names[0] == names[1])
