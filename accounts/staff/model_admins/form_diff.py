"""Describe the changes of a submitted form for the audit log. Pure."""

from collections.abc import Set

from django.forms import BaseForm, ModelMultipleChoiceField


def describe_changes(form: BaseForm) -> str:
    """Return `Name: A → B, Active: yes → no`, or an empty string if nothing changed."""
    return ", ".join(_describe_field(form, name) for name in form.changed_data)


def _describe_field(form: BaseForm, name: str) -> str:
    field = form.fields[name]
    label = field.label or name
    before, after = form.get_initial_for_field(field, name), form.cleaned_data[name]
    if isinstance(field, ModelMultipleChoiceField):
        return f"{label}: {_describe_set_change(set(before or ()), set(after))}"
    return f"{label}: {_format_value(before)} → {_format_value(after)}"


def _describe_set_change(before: Set[object], after: Set[object]) -> str:
    """List only additions and removals, because the full sets may be long."""
    changes = {"added": after - before, "removed": before - after}
    return ", ".join(f"{verb} {_join_names(rows)}" for verb, rows in changes.items() if rows)


def _join_names(rows: Set[object]) -> str:
    return ", ".join(sorted(str(row) for row in rows))


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None or value == "" else str(value)
