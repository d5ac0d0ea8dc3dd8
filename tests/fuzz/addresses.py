"""Strategies for addresses and near-addresses."""

from hypothesis import strategies as st

from tests.fuzz.texts import ODD_CHARACTERS, TRAPS

DOMAINS = (
    *("gmail.com", "gmial.com", "GMAIL.com", "googlemail.com", "yahoo.co.uk", "outlook.de"),
    *("mailinator.com", "example.com", "shop.example", "localhost", "münchen.de", "MÜNCHEN.de"),
    *("xn--mnchen-3ya.de", "XN--MNCHEN-3YA.DE", "xn--a", "xn--", "xn--99999999999", "xn--ls8h.la"),
    *("faß.de", "xn--fa-hia.de", "βόλος.com", "нет.рф", "аррӏе.com", "例え.jp", "مثال.إختبار"),
    *("क्‍ष.com", "gmail。com", "ｇｍａｉｌ．ｃｏｍ"),
    *("gmail,com", "gmail com", "gmail.con", "gmail", "com"),
    *("[127.0.0.1]", "[IPv6:::1]", "127.0.0.1", "1.2.3.4.5", "a.1", "-a.com", "a-.com", "a..com"),
    *("a_b.com", ".com", "com.", "shop.co,uk", "a" * 63 + ".com", "a" * 64 + ".com"),
    *(".".join(["a" * 60] * 4) + ".com", ("a." * 120) + "com", "ﷺ.com", "i̇.com", "İ.com"),
    *("℀.com", "⒈com.com", "a\u00adb.com", "a\u200db.com", "www.gmail.com", "gmailcom.com"),
)
LOCAL_PARTS = (
    *("jane", "Jane.Doe+news", "jane-tag", "no-reply", "info", "+tag", "a+", "a+b+c", ".a", "a."),
    *("a..b", '"jane doe"', '"a\\"b"', '"a@b"', '""', '"', "(comment)jane", "jane(c)", "jörg"),
    *("jane\u200d", "İ", "ẞ", "\ufb01", "e\u0301", "j\u0430ne", "a" * 64, "a" * 65, "ü" * 32),
    *("ü" * 33, "!#$%&'*+-/=?^_`{|}~", "jane@work", "<jane", "mailto:jane", " jane", "jane\0"),
)
ATOM = "abcXYZ019!#$%&'*+/=?^_`{|}~-"
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"

odd = st.text(st.sampled_from(ODD_CHARACTERS), max_size=12)
anything = st.text(st.characters(), max_size=20)
wide = st.text(st.characters(categories=["Ll", "Lu", "Lo", "Mn", "Nd", "Lm"]), max_size=20)
local_parts = st.one_of(st.sampled_from(LOCAL_PARTS), odd, anything, wide)
labels = st.one_of(
    st.text(st.sampled_from(LETTERS + "-"), max_size=20),
    wide,
    odd,
    wide.map(lambda label: "xn--" + label.encode("punycode", "ignore").decode()),
    st.text(st.sampled_from(LETTERS + "-"), max_size=60).map(lambda label: f"xn--{label}"),
)
domains = st.one_of(
    st.sampled_from(DOMAINS),
    st.lists(labels, min_size=1, max_size=5).map(".".join),
    st.tuples(labels, st.sampled_from(["com", "de", "co.uk", "con", "рф"])).map(".".join),
)


def _replace_part(text: str, position: int, inserted: str, removed: int) -> str:
    start = position % (len(text) + 1)
    return text[:start] + inserted + text[start + removed :]


near_addresses = st.builds("{}@{}".format, local_parts, domains)
addresses = st.one_of(
    near_addresses,
    st.builds(_replace_part, near_addresses, st.integers(0, 60), odd, st.integers(0, 2)),
    st.builds("{} <{}>".format, anything, near_addresses),
    st.sampled_from(TRAPS),
    anything,
    st.builds(lambda text, times: text * times, near_addresses, st.integers(2, 2000)),
)

_atoms = st.text(st.sampled_from(ATOM), min_size=1, max_size=15)
_hosts = st.text(st.sampled_from(LETTERS), min_size=1, max_size=20)
# RFC 5321: a dot-string at a domain of letters and digits, with a top-level domain of letters.
plain_addresses = st.builds(
    "{}@{}.{}".format,
    st.lists(_atoms, min_size=1, max_size=3).map(".".join),
    st.lists(_hosts, min_size=1, max_size=3).map(".".join),
    st.sampled_from(["com", "org", "de", "shop", "zz"]),
)
