"""The product's URLs and an operation that crashes."""

from typing import NoReturn

from django.urls import path

from apikeys.request import ApiRequest
from apikeys.rest.view import ApiView
from config.urls import handler400, handler403, handler404, handler500, urlpatterns

__all__ = ["handler400", "handler403", "handler404", "handler500"]


class CrashingView(ApiView):
    def get(self, request: ApiRequest) -> NoReturn:
        raise ZeroDivisionError("The view crashed.")


urlpatterns = [path("v1/crash", CrashingView.as_view()), *urlpatterns]
