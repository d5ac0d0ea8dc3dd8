"""How large the forms of pages may be. Imports no Django, for the web worker."""

import re

MAX_FORM_BYTES = 3 * 1024 * 1024
# A list's file, or a part of one.
_LARGER_FORMS = re.compile(r"/lists/(create|[^/]+/parts/[0-9]+)/")
MAX_LARGER_FORM_BYTES = 9 * 1024 * 1024


def max_form_bytes(path: str) -> int:
    return MAX_LARGER_FORM_BYTES if _LARGER_FORMS.fullmatch(path) else MAX_FORM_BYTES
