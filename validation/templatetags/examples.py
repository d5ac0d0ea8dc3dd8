from typing import Any

from django import template

from validation.docs.examples import snippets_of

register = template.Library()


@register.inclusion_tag("docs/example.html", takes_context=True)
def example(context: template.Context, name: str) -> dict[str, Any]:
    """`{% example "retry" %}`: in each language, with what it prints."""
    facts: dict[str, Any] = context.flatten()  # type: ignore[assignment]
    return {"name": name, "snippets": snippets_of(name, facts)}
