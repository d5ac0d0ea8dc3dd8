"""Recognize addresses that software makes for one message, thread or commit, and no person reads.

They end up in lists that are collected from mailboxes and repositories.
"""

import re

# Domains that have no other addresses.
MACHINE_DOMAINS = frozenset(
    {
        *("reply.github.com", "users.noreply.github.com", "users.noreply.gitlab.com"),
        "noreply.codeberg.org",
    }
)
# VERP with a recipient, as in news-return-1-jane=shop.com, BATV and SRS; bounces with a tag.
_WITH_EQUALS_SIGN = re.compile(
    r".*=[a-z0-9-]+(\.[a-z0-9-]+)+|((ms)?prvs\d?=|btv1==|srs[01][=+-]).+", re.IGNORECASE
)
_BOUNCES = re.compile(r"bounces?(\+.+|-.*\d.*)", re.IGNORECASE)


def is_machine_mailbox(local_part: str) -> bool:
    if "=" in local_part and _WITH_EQUALS_SIGN.fullmatch(local_part):
        return True
    return local_part[0] in "bB" and _BOUNCES.fullmatch(local_part) is not None
