from django.template import engines

JOINED = (
    "{% load emails %}{% filter one_line %}\n{{ name }} joined\n  the account.\n{% endfilter %}"
)


def test_lines_of_a_paragraph_become_one_line() -> None:
    template = engines["django"].from_string(
        "{% autoescape off %}" + JOINED + "{% endautoescape %}"
    )
    assert template.render({"name": "Jane & Co"}) == "Jane & Co joined the account."


def test_names_are_escaped_outside_of_emails() -> None:
    assert engines["django"].from_string(JOINED).render({"name": "<b>"}) == (
        "&lt;b&gt; joined the account."
    )
