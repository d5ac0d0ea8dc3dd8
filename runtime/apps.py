from django.apps import AppConfig
from django.core import checks
from django.db.backends.signals import connection_created
from django.urls import register_converter

from runtime.database.postgresql.pooler import check_servers
from runtime.database.sqlite import poll_locks
from runtime.http.url_converters import PublicId, RequestId, Token


class RuntimeConfig(AppConfig):
    name = "runtime"
    verbose_name = "Background jobs and emails"

    def ready(self) -> None:
        connection_created.connect(poll_locks)
        checks.register(check_servers, checks.Tags.database)
        # Django imports the apps' urls.py files after this.
        register_converter(PublicId, "public_id")
        register_converter(RequestId, "request_id")
        register_converter(Token, "token")
