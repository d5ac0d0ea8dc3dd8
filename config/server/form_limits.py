"""How large the forms of pages may be. Imports no Django, for the web worker."""

import re

MAX_FORM_BYTES = 3 * 1024 * 1024
# The form with a list's file of up to 8 MB, and parts of lists.
_LARGER_FORMS = re.compile(r"/validation/lists/(create|[^/]+/parts/[0-9]+)/")
MAX_LARGER_FORM_BYTES = 9 * 1024 * 1024


def max_form_bytes(path: str) -> int:
    return MAX_LARGER_FORM_BYTES if _LARGER_FORMS.fullmatch(path) else MAX_FORM_BYTES
