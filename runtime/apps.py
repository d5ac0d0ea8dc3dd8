from django.apps import AppConfig
from django.core import checks
from django.urls import register_converter

from runtime.database.postgresql.pooler import check_servers
from runtime.http.url_converters import PublicId, RequestId, Token


class RuntimeConfig(AppConfig):
    name = "runtime"
    verbose_name = "Background jobs and emails"

    def ready(self) -> None:
        checks.register(check_servers, checks.Tags.database)
        # Django imports the apps' urls.py files after this.
        register_converter(PublicId, "public_id")
        register_converter(RequestId, "request_id")
        register_converter(Token, "token")
