from django.apps import AppConfig
from django.urls import register_converter

from validation.ids import ResultId


class ValidationConfig(AppConfig):
    name = "validation"

    def ready(self) -> None:
        register_converter(ResultId, "result_id")
