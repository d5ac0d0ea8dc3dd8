from django.apps import AppConfig
from django.urls import register_converter

from runtime.http.url_converters import PublicId, RequestId, Token


class RuntimeConfig(AppConfig):
    name = "runtime"
    verbose_name = "Background jobs and emails"

    def ready(self) -> None:
        # Django imports the apps' urls.py files after this.
        register_converter(PublicId, "public_id")
        register_converter(RequestId, "request_id")
        register_converter(Token, "token")
