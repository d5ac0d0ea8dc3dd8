"""Record the context of a page only, not also those of the templates that it includes.

Django's test client copies the context of each template that is rendered. Each icon is one, so a
page has dozens. Tests read only what the view passes to the page.
"""

from django.template.base import Template
from django.template.context import Context
from django.test.signals import template_rendered
from django.utils.safestring import SafeString


def record_page_contexts() -> None:
    """Replace what Django installs for all tests, which restores the original at their end."""
    Template._render = _render  # type: ignore[attr-defined]


def _render(template: Template, context: Context) -> SafeString:
    # Included and extended templates are rendered in the context of another template.
    if template is context.template:
        template_rendered.send(sender=template, template=template, context=context)
    return template.nodelist.render(context)
