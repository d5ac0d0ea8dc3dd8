from django import template
from django.utils.html import format_html

from validation.docs import operations
from validation.docs.examples import load_snippets

register = template.Library()


@register.simple_tag
def operation_url(operation_id: str) -> str:
    """Link to an operation in the API reference."""
    return operations.operation_url(operation_id)


@register.simple_tag
def operation_link(operation_id: str) -> str:
    operation = operations.find_operation(operation_id)
    url = operations.operation_url(operation_id)
    return format_html('<a href="{}">{}</a>', url, operation.summary)


@register.inclusion_tag("docs/fragments/example.html", takes_context=True)
def example(context: template.Context, name: str) -> dict[str, object]:
    """Render `{% example "retry" %}` in each language, with its output."""
    variables: dict[str, object] = context.flatten()  # type: ignore[assignment]
    snippets = load_snippets(name, variables)
    return {"name": name, "snippets": snippets, "is_tabbed": len(snippets) > 1}
