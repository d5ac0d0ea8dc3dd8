"""Checkboxes, as Django's two lists need JavaScript and have no accessible names."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Permission
from django.forms import CheckboxSelectMultiple, ModelMultipleChoiceField
from django.forms.models import ModelChoiceIterator


class Checkboxes(CheckboxSelectMultiple):
    template_name = "admin/widgets/checkboxes.html"

    def __init__(self, label: str) -> None:
        super().__init__()
        self.label = label

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        return {**super().get_context(name, value, attrs), "label": self.label}


class _PermissionsByApp(ModelChoiceIterator):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[Any]:
        rows = self.queryset.select_related("content_type")
        by_app = groupby(rows, key=lambda permission: permission.content_type.app_label)
        for app, permissions in by_app:
            yield apps.get_app_config(app).verbose_name, [self.choice(row) for row in permissions]


class PermissionsField(ModelMultipleChoiceField):  # type: ignore[type-arg]
    iterator = _PermissionsByApp

    def label_from_instance(self, obj: Permission) -> str:
        return obj.name
