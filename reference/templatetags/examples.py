from django import template

from reference.docs import operations
from reference.docs.examples import load_snippets

register = template.Library()


@register.simple_tag
def operation_link(operation_id: str) -> str:
    operation = operations.find_operation(operation_id)
    return f"[{operation.summary}]({operations.operation_url(operation_id)})"


@register.inclusion_tag("docs/fragments/example.md", takes_context=True)
def example(context: template.Context, name: str) -> dict[str, object]:
    """Render `{% example "retry" %}` in each language, with its output."""
    variables: dict[str, object] = context.flatten()  # type: ignore[assignment]
    return {"name": name, "snippets": load_snippets(name, variables)}
