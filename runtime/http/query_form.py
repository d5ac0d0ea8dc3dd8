"""Forms whose fields are the query string of a page: filters that can be linked to and reloaded."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone


class DayField(forms.DateField):
    """Of the years in which there may be anything: the first and the last there are overflow."""

    widget = forms.DateInput(attrs={"type": "date"})

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value is not None and not 2020 <= value.year <= timezone.now().year + 1:
            raise ValidationError("Choose a day since 2020.")


class QueryForm(forms.Form):
    @property
    def given(self) -> dict[str, str]:
        """What was asked; a field that is empty stands in no address."""
        asked = {name: self.data.get(name) for name in self.fields}
        return {name: value for name, value in asked.items() if value}

    @property
    def query(self) -> str:
        return urlencode(self.given)
