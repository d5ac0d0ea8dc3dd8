"""Score a response like Mozilla's HTTP Observatory (mdn/mdn-http-observatory). No I/O.

Each of its ten tests adds points to 100 or subtracts them. Bonus points count only if the score
without them is at least 90. The 5 points for a domain on the browsers' HSTS preload list aren't
modeled, so the maximum here is 140.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

HIGHEST_GRADE = "A+"
_MIN_FOR_BONUS = 90
_SIX_MONTHS = 15_552_000
_BROAD = {"ftp:", "http:", "https:", "*", "http://*", "http://*.*", "https://*", "https://*.*"}
_INLINE = {"'unsafe-inline'", "data:"}
_GRADES = ["A+", "A", "A", "A-", "B+", "B", "B", "B-", "C+", "C", "C", "C-", "D+", "D", "D", "D-"]
_PRIVATE_REFERRER_POLICIES = {
    *("no-referrer", "same-origin", "strict-origin", "strict-origin-when-cross-origin"),
}
Policy = Mapping[str, set[str]]


@dataclass(frozen=True)
class ScannedResponse:
    """A response to score, with header names in lowercase.

    `http_redirect` is the URL to which plain HTTP on this host redirects.
    """

    url: str
    headers: Mapping[str, str]
    cookies: Sequence[str] = ()
    html: str = ""
    http_redirect: str = ""


@dataclass(frozen=True)
class Score:
    modifiers: Mapping[str, int] = field(default_factory=dict)

    @property
    def points(self) -> int:
        base = 100 + sum(points for points in self.modifiers.values() if points < 0)
        bonus = sum(points for points in self.modifiers.values() if points > 0)
        return max(0, base + bonus if base >= _MIN_FOR_BONUS else base)

    @property
    def grade(self) -> str:
        steps = (100 - min(100, self.points - self.points % 5)) // 5
        return _GRADES[steps] if steps < len(_GRADES) else "F"


def score(response: ScannedResponse) -> Score:
    policy = _policy(response.headers.get("content-security-policy", ""))
    return Score(
        {
            "content-security-policy": _csp(policy),
            "cookies": _cookies(response),
            "cross-origin-resource-sharing": _cors(response),
            "redirection": _redirection(response),
            "referrer-policy": _referrer(response),
            "strict-transport-security": _hsts(response),
            "subresource-integrity": _integrity(response),
            "x-content-type-options": _sniffing(response),
            "x-frame-options": _framing(response, policy),
            "cross-origin-resource-policy": _resource_policy(response),
        }
    )


def _policy(header: str) -> Policy:
    parts = [part.split() for part in header.split(";") if part.strip()]
    return {name.lower(): {value.lower() for value in values} for name, *values in parts}


def _csp(policy: Policy) -> int:  # noqa: PLR0911 - one return per rule
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


def _cookies(response: ScannedResponse) -> int:
    modifiers = [_cookie(cookie) for cookie in response.cookies]
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


def _cors(response: ScannedResponse) -> int:
    allowed = response.headers.get("access-control-allow-origin")
    with_credentials = response.headers.get("access-control-allow-credentials") == "true"
    return -50 if allowed and allowed != "null" and with_credentials else 0


def _redirection(response: ScannedResponse) -> int:
    if not response.http_redirect.startswith("https://"):
        return -20
    current_host, target_host = (
        re.split(r"[/:]+", url)[1] for url in (response.url, response.http_redirect)
    )
    return 0 if current_host == target_host else -5


def _referrer(response: ScannedResponse) -> int:
    words = [w.strip() for w in response.headers.get("referrer-policy", "").lower().split(",")]
    if words == [""]:
        return 0
    return 5 if words[-1] in _PRIVATE_REFERRER_POLICIES else -5


def _hsts(response: ScannedResponse) -> int:
    header = response.headers.get("strict-transport-security", "").lower()
    age = re.search(r"(?:^|;)\s*max-age=(\d+)", header)
    if not age or "," in header:
        return -20
    return 0 if int(age[1]) >= _SIX_MONTHS else -10


def _integrity(response: ScannedResponse) -> int:
    if not response.headers.get("content-type", "").startswith("text/html"):
        return 0
    parser = _ScriptParser()
    parser.feed(response.html)
    foreign = [script for script in parser.scripts if script["src"].startswith(("//", "http"))]
    if foreign:
        return -50 if any(not script["src"].startswith("https:") for script in foreign) else -5
    return 5 if any(script.get("integrity") for script in parser.scripts) else 0


class _ScriptParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[dict[str, str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if tag == "script" and values.get("src"):
            self.scripts.append(values)


def _sniffing(response: ScannedResponse) -> int:
    return 0 if response.headers.get("x-content-type-options", "").lower() == "nosniff" else -5


def _framing(response: ScannedResponse, policy: Policy) -> int:
    if policy.get("frame-ancestors"):
        return 5
    is_set = response.headers.get("x-frame-options", "").lower() in {"deny", "sameorigin"}
    return 0 if is_set else -20


def _resource_policy(response: ScannedResponse) -> int:
    header = response.headers.get("cross-origin-resource-policy", "").lower()
    if header in {"same-origin", "same-site"}:
        return 10
    return 0 if header in {"", "cross-origin"} else -5
