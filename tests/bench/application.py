"""The baseline: an empty DRF view without a database or middleware."""

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    INSTALLED_APPS=["rest_framework"],
    LOGGING_CONFIG=None,
    MIDDLEWARE=[],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "UNAUTHENTICATED_USER": None,
    },
    ROOT_URLCONF=__name__,
    USE_I18N=False,
)
django.setup()

# These modules read the settings at import.
from django.core.handlers.wsgi import WSGIHandler  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class EmptyView(APIView):
    def post(self, request: Request) -> Response:
        response = Response(request.data)
        # Without a length, which a middleware would set, gunicorn sends the body in chunks.
        response.add_post_render_callback(_set_length)
        return response


def _set_length(response: Response) -> None:
    response["Content-Length"] = str(len(response.content))


urlpatterns = [path("empty", EmptyView.as_view())]
application = WSGIHandler()
