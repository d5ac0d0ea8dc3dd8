"""What a form changed, in words for the audit log. Pure."""

from typing import Any

from django.forms import Form, ModelForm, ModelMultipleChoiceField


def describe_changes(form: "Form | ModelForm[Any]") -> str:
    """`Name: A → B, Active: yes → no`; empty if nothing was changed."""
    return ", ".join(_change(form, name) for name in form.changed_data)


def _change(form: "Form | ModelForm[Any]", name: str) -> str:
    field = form.fields[name]
    label = field.label or name
    before, after = form.get_initial_for_field(field, name), form.cleaned_data[name]
    if isinstance(field, ModelMultipleChoiceField):
        return f"{label}: {_difference(set(before or ()), set(after))}"
    return f"{label}: {_words(before)} → {_words(after)}"


def _difference(before: set[Any], after: set[Any]) -> str:
    """The whole lists may be long."""
    told = {"added": after - before, "removed": before - after}
    return ", ".join(f"{word} {_names(some)}" for word, some in told.items() if some)


def _names(some: set[Any]) -> str:
    return ", ".join(sorted(str(one) for one in some))


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None or value == "" else str(value)
