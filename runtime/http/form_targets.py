from collections.abc import Callable, Sequence
from functools import wraps

from django.http import HttpResponse

View = Callable[..., HttpResponse]


def allow_forms_to(get_origins: Callable[[], Sequence[str]]) -> Callable[[View], View]:
    """Let a page's forms redirect to these origins, which `form-action` prevents elsewhere."""

    def decorate(view: View) -> View:
        @wraps(view)
        def allowed(*args: object, **kwargs: object) -> HttpResponse:
            response = view(*args, **kwargs)
            if origins := get_origins():
                response._csp_update = {"form-action": origins}  # type: ignore[attr-defined]
            return response

        return allowed

    return decorate
