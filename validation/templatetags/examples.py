from django import template

from validation.docs.examples import load_snippets

register = template.Library()


@register.inclusion_tag("docs/fragments/example.html", takes_context=True)
def example(context: template.Context, name: str) -> dict[str, object]:
    """Render `{% example "retry" %}` in each language, with its output."""
    variables: dict[str, object] = context.flatten()  # type: ignore[assignment]
    snippets = load_snippets(name, variables)
    return {"name": name, "snippets": snippets, "is_tabbed": len(snippets) > 1}
