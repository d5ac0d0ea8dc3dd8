"""Strategies for filling in forms with hostile values."""

from hypothesis import strategies as st

from tests.fuzz.html_forms import PageForm
from tests.fuzz.texts import texts

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
    **dict.fromkeys(("is_staff", "is_superuser", "is_active", "verified", "confirmed"), "on"),
    **dict.fromkeys(("credits", "balance", "amount", "monthly_credits", "log_days"), "1000000"),
    **dict.fromkeys(("price", "price_cents", "net_cents", "total_cents", "debt"), "0"),
    **dict.fromkeys(("account", "account_id", "user", "user_id", "id", "pk", "object_id"), "1"),
    **dict.fromkeys(("actor", "groups", "member", "owner"), "1"),
    "state": "paid",
    "kind": "purchase",
    "method": "stripe",
    "plan": "scale",
    "role": "owner",
    "requests_per_minute_override": "9999",
    "suspended_at": "",
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
