from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone


class DayField(forms.DateField):
    widget = forms.DateInput(attrs={"type": "date", "min": "2020-01-01"})

    def validate(self, value: Any) -> None:
        super().validate(value)
        next_year = timezone.now().year + 1
        if value is not None and not 2020 <= value.year <= next_year:
            raise ValidationError(f"Choose a date from 2020 to {next_year}.")


class QueryForm(forms.Form):
    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        since, until = data.get("since"), data.get("until")
        if since and until and since > until:
            raise ValidationError("“From” must be before “To”.")
        return data

    @property
    def params(self) -> dict[str, str]:
        values = {name: self.data.get(name) for name in self.fields}
        return {name: value for name, value in values.items() if value}

    @property
    def query(self) -> str:
        return urlencode(self.params)
