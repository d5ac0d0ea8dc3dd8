"""Strategies for filling in forms with hostile values."""

from hypothesis import strategies as st

from tests.fuzz.html_forms import PageForm
from tests.fuzz.texts import texts
from tests.site.test_every_form import HIDDEN_FIELDS

# What to do with each field: keep its value, choose one of its options, or enter a text. Tokens are
# changed only by "spoil".
Filling = list[tuple[str, str]]
actions = st.sampled_from(["keep", "option", "text", "text", "text", "spoil"])
fillings: st.SearchStrategy[Filling] = st.lists(st.tuples(actions, texts), min_size=1, max_size=6)
# Keeps every field; the form is still submitted with EXTRA.
UNCHANGED: Filling = [("keep", "")]
TOKENS = {"csrfmiddlewaretoken", "form_token"}
# Fields that no customer form has, with values that would do harm.
EXTRA = {
    **HIDDEN_FIELDS,
    **dict.fromkeys(("confirmed", "balance", "amount", "monthly_credits", "log_days"), "1000000"),
    **dict.fromkeys(("account", "account_id", "id", "pk", "object_id", "member"), "1"),
    "kind": "purchase",
    "plan": "scale",
    "role": "owner",
    "ip": "::1",
}


def fill(form: PageForm, filling: Filling) -> dict[str, str]:
    fields = {name: value for name, value in EXTRA.items() if name not in form.fields}
    for index, (name, value) in enumerate(form.fields.items()):
        action, text = filling[index % len(filling)]
        options = form.options.get(name)
        if action == "spoil" or (action == "text" and name not in TOKENS):
            fields[name] = text
        elif action == "option" and options:
            fields[name] = options[len(text) % len(options)]
        else:
            fields[name] = value
    return fields
