"""How Mozilla's HTTP Observatory (mdn/mdn-http-observatory) scores an answer. Pure.

Each of its ten tests adds to 100 or takes away. What is above 100 counts only if what is taken away
leaves at least 90. Nobody but Mozilla gives the 5 points for a domain that browsers have on their
preload list, so the most that an answer can earn here is 140.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

HIGHEST_GRADE = "A+"
_LEAST_FOR_BONUS = 90
_SIX_MONTHS = 15_552_000
_BROAD = {"ftp:", "http:", "https:", "*", "http://*", "http://*.*", "https://*", "https://*.*"}
_INLINE = {"'unsafe-inline'", "data:"}
_GRADES = ["A+", "A", "A", "A-", "B+", "B", "B", "B-", "C+", "C", "C", "C-", "D+", "D", "D", "D-"]
_REFERRER_KEPT = {
    *("no-referrer", "same-origin", "strict-origin", "strict-origin-when-cross-origin"),
}
Policy = Mapping[str, set[str]]


@dataclass(frozen=True)
class Answer:
    """Header names in lower case. `moved_from_http`: where plain HTTP on this host leads."""

    url: str
    headers: Mapping[str, str]
    cookies: Sequence[str] = ()
    html: str = ""
    moved_from_http: str = ""


@dataclass(frozen=True)
class Score:
    modifiers: Mapping[str, int] = field(default_factory=dict)

    @property
    def points(self) -> int:
        lowered = 100 + sum(points for points in self.modifiers.values() if points < 0)
        bonus = sum(points for points in self.modifiers.values() if points > 0)
        return max(0, lowered + bonus if lowered >= _LEAST_FOR_BONUS else lowered)

    @property
    def grade(self) -> str:
        below = (100 - min(100, self.points - self.points % 5)) // 5
        return _GRADES[below] if below < len(_GRADES) else "F"


def score(answer: Answer) -> Score:
    policy = _policy(answer.headers.get("content-security-policy", ""))
    return Score(
        {
            "content-security-policy": _csp(policy),
            "cookies": _cookies(answer),
            "cross-origin-resource-sharing": _cors(answer),
            "redirection": _redirection(answer),
            "referrer-policy": _referrer(answer),
            "strict-transport-security": _hsts(answer),
            "subresource-integrity": _integrity(answer),
            "x-content-type-options": _sniffing(answer),
            "x-frame-options": _framing(answer, policy),
            "cross-origin-resource-policy": _resource_policy(answer),
        }
    )


def _policy(header: str) -> Policy:
    parts = [part.split() for part in header.split(";") if part.strip()]
    return {name.lower(): {value.lower() for value in values} for name, *values in parts}


def _csp(policy: Policy) -> int:  # noqa: PLR0911 - one line a rule of theirs
    if not policy:
        return -25
    default = policy.get("default-src", {"*"})
    script, style, objects = (
        policy.get(name, default) for name in ("script-src", "style-src", "object-src")
    )
    if script & (_BROAD | _INLINE) or objects & _BROAD:
        return -20
    passive = [policy.get(name, default) for name in ("img-src", "media-src")]
    active = [v for name, v in policy.items() if name not in {"img-src", "media-src"}]
    if any(_is_insecure(source) for values in active for source in values):
        return -20
    if "'unsafe-eval'" in script | style:
        return -10
    if any(_is_insecure(source) for values in passive for source in values):
        return -10
    if style & (_BROAD | _INLINE):
        return 0
    return 10 if policy.get("default-src") == {"'none'"} else 5


def _is_insecure(source: str) -> bool:
    return source.startswith(("http:", "ftp:"))


def _cookies(answer: Answer) -> int:
    modifiers = [_cookie(cookie) for cookie in answer.cookies]
    return min(modifiers, default=0)


def _cookie(line: str) -> int:
    pair, *rest = (part.strip() for part in line.split(";"))
    name = pair.partition("=")[0].lower()
    flags = dict(part.lower().partition("=")[::2] for part in rest)
    is_session = "login" in name or "sess" in name
    if "secure" not in flags:
        return -40 if is_session else -20
    if is_session and "httponly" not in flags:
        return -30
    if flags.get("samesite") not in {None, "lax", "strict", "none"}:
        return -20
    if "samesite" not in flags:
        return -20 if "csrf" in name else 0
    return 5


def _cors(answer: Answer) -> int:
    allowed = answer.headers.get("access-control-allow-origin")
    with_credentials = answer.headers.get("access-control-allow-credentials") == "true"
    return -50 if allowed and allowed != "null" and with_credentials else 0


def _redirection(answer: Answer) -> int:
    if not answer.moved_from_http.startswith("https://"):
        return -20
    here, there = (re.split(r"[/:]+", url)[1] for url in (answer.url, answer.moved_from_http))
    return 0 if here == there else -5


def _referrer(answer: Answer) -> int:
    words = [w.strip() for w in answer.headers.get("referrer-policy", "").lower().split(",")]
    if words == [""]:
        return 0
    return 5 if words[-1] in _REFERRER_KEPT else -5


def _hsts(answer: Answer) -> int:
    header = answer.headers.get("strict-transport-security", "").lower()
    age = re.search(r"(?:^|;)\s*max-age=(\d+)", header)
    if not age or "," in header:
        return -20
    return 0 if int(age[1]) >= _SIX_MONTHS else -10


def _integrity(answer: Answer) -> int:
    if not answer.headers.get("content-type", "").startswith("text/html"):
        return 0
    scripts = _Scripts()
    scripts.feed(answer.html)
    foreign = [one for one in scripts.found if one["src"].startswith(("//", "http"))]
    if foreign:
        return -50 if any(not one["src"].startswith("https:") for one in foreign) else -5
    return 5 if any(one.get("integrity") for one in scripts.found) else 0


class _Scripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag == "script" and given.get("src"):
            self.found.append(given)


def _sniffing(answer: Answer) -> int:
    return 0 if answer.headers.get("x-content-type-options", "").lower() == "nosniff" else -5


def _framing(answer: Answer, policy: Policy) -> int:
    if policy.get("frame-ancestors"):
        return 5
    kept = answer.headers.get("x-frame-options", "").lower() in {"deny", "sameorigin"}
    return 0 if kept else -20


def _resource_policy(answer: Answer) -> int:
    header = answer.headers.get("cross-origin-resource-policy", "").lower()
    if header in {"same-origin", "same-site"}:
        return 10
    return 0 if header in {"", "cross-origin"} else -5
