"""Strategies for texts and numbers that often break programs."""

from hypothesis import strategies as st

# Controls, line breaks, bidi, zero width, surrogates, combining, wide, quotes, formula prefixes.
ODD_CHARACTERS = (
    "\0\x01\t\n\r\x1b\x7f\x85\u00a0\u00ad\u0300\u034f\u061c\u115f\u200b\u200c\u200d\u200e\u202e"
    "\u2028\u2029\u2066\u2069\ufe0f\ufeff\uff20\ufe6b\uff0e\u3002\uff61\ud800\udfff\ue000\U000e0041"
    "\U0001f600\U0010ffff\u0130\u0131\u00df\u1e9e\u03c2\u0430\u0627\u05d0\u4e2d\uac00\ufb01\ufdfa"
    "=+-@'\"<>&;,.()[]{}\\/%#!|~`^$*?: _aA09"
)
TRAPS = (
    *("", " ", "0", "-1", "1.5", "1e999", "NaN", "Infinity", "١٢", "１２", "0x10", "+1", "1,000"),
    *(str(2**31 - 1), str(2**31), str(2**63 - 1), str(2**63), str(-(2**63)), "9" * 5000, "1_000"),
    *("true", "null", "None", "on", "[]", "{}", "../../etc/passwd", "%00", "%s%n", "{{ 7 }}"),
    *("' OR 1=1 --", "<b id=fuzz>x</b>", '"><b id=fuzz>', "javascript:alert(1)", "=1+1"),
    "@SUM(A1)",
    *("a\0b", "a\r\nX: y", "\u202eevil", "\ufdfa" * 400, "e" + "\u0300" * 3000, "x" * 20_000),
    *("2026-02-30", "0001-01-01", "9999-12-31", "2026-11-21T00:00", "acc_" + "0" * 20),
    *("owner@shop.example", "stranger@elsewhere.example", "jane@gmial.com", "@", "a@b@c"),
)
ANY_CHARACTER = st.characters()

odd_text = st.text(st.sampled_from(ODD_CHARACTERS), max_size=30)
any_text = st.text(ANY_CHARACTER, max_size=40)
texts = st.one_of(
    st.sampled_from(TRAPS),
    odd_text,
    any_text,
    st.integers(-(2**65), 2**65).map(str),
    st.builds("".join, st.lists(st.sampled_from(TRAPS[:60]), max_size=3)),
)
