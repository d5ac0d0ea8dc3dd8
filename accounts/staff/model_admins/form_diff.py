from django.forms import BaseForm, ModelMultipleChoiceField


def describe_changes(form: BaseForm) -> str:
    """Describe changes as the form shows them: `Name: A → B, Active: yes → no`."""
    texts = []
    for name in form.changed_data:
        field = form.fields[name]
        before, after = form.get_initial_for_field(field, name), form.cleaned_data[name]
        text = " → ".join(_format_value(field.prepare_value(each)) for each in (before, after))
        if isinstance(field, ModelMultipleChoiceField):
            # Only additions and removals: sets may be long.
            old, new = set(before or ()), set(after)
            changes = {"added": new - old, "removed": old - new}
            text = ", ".join(
                f"{verb} {', '.join(sorted(map(str, rows)))}"
                for verb, rows in changes.items()
                if rows
            )
        texts.append(f"{field.label or name}: {text}")
    return ", ".join(texts)


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None or value == "" else str(value)
