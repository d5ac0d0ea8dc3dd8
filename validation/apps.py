from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.urls import register_converter

from validation.ids import ResultId


class ValidationConfig(AppConfig):
    name = "validation"

    def ready(self) -> None:
        register_converter(ResultId, "result_id")
        # Models can't be imported earlier.
        from validation.partitions import create_after_migrations

        post_migrate.connect(create_after_migrations, sender=self)
