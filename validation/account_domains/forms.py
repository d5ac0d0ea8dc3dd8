from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.template.defaultfilters import pluralize

from validation.account_domains.entries import MAX_PROBLEMS, parse_entries
from validation.account_domains.services import MAX_ENTRIES, describe_change
from validation.forms import VERBATIM, read_lines
from validation.models import AccountDomains

_TOO_MANY = f"Both lists together can have {MAX_ENTRIES:,} domains. Remove some."
_INCOMPLETE = {"required": "The form was incomplete. Open this page again and resubmit it."}


def _lines_field(label: str, help_text: str, example: str) -> forms.CharField:
    widget = forms.Textarea({**VERBATIM, "rows": 12, "wrap": "off", "placeholder": example})
    return forms.CharField(
        label=label, help_text=help_text, required=False, strip=False, widget=widget
    )


class DomainsForm(forms.Form):
    allowed = _lines_field(
        "Allowed domains",
        "Accepted at sign-up, unless the verdict is undeliverable.",
        "partner.example",
    )
    denied = _lines_field(
        "Denied domains", "Rejected at sign-up, and never safe to send to.", "spam.example"
    )
    etag = forms.CharField(widget=forms.HiddenInput, error_messages=_INCOMPLETE)

    @classmethod
    def of(cls, domains: AccountDomains, *, is_editable: bool) -> "DomainsForm":
        initial = {name: "\n".join(entries) for name, entries in domains.document().items()}
        form = cls(initial={**initial, "etag": domains.etag})
        for field in form.visible_fields():
            field.field.widget.attrs["readonly"] = not is_editable
        return form

    def fields_with_counts(self) -> list[tuple[forms.BoundField, str]]:
        return [
            (field, f"{count:,} domain{pluralize(count)}")
            for field in self.visible_fields()
            for count in [len(read_lines(str(field.value() or "")))]
        ]

    @property
    def page_errors(self) -> list[str]:
        return [*self.non_field_errors(), *self["etag"].errors]

    def clean_allowed(self) -> list[str]:
        return self._clean_lines("allowed")

    def clean_denied(self) -> list[str]:
        return self._clean_lines("denied")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if len(data.get("allowed", ())) + len(data.get("denied", ())) > MAX_ENTRIES:
            raise ValidationError(_TOO_MANY)
        return data

    def _clean_lines(self, name: str) -> list[str]:
        lines = read_lines(self.cleaned_data[name])
        if len(lines) > MAX_ENTRIES:
            raise ValidationError(_TOO_MANY)
        numbers = list(lines)
        domains, problems = parse_entries(lines.values())
        errors = [f"Line {numbers[index]}: {problem}" for index, problem in problems.items()]
        if len(errors) == MAX_PROBLEMS:
            errors.append(f"Only the first {MAX_PROBLEMS} problems are shown.")
        if errors:
            raise ValidationError(errors)
        return domains

    def refuse_outdated(self, present: AccountDomains) -> None:
        """Say what saving again would change, and let the next submission do it."""
        new = AccountDomains(
            allowed=self.cleaned_data["allowed"], denied=self.cleaned_data["denied"]
        )
        self.add_error(
            None,
            "Someone changed the domains after you opened this page. Open Domains again to see "
            "them, or save again to replace them with the lists below. The result would be: "
            f"{describe_change(present, new)}.",
        )
        self.data = {**self.data.dict(), "etag": present.etag}  # type: ignore[attr-defined]
