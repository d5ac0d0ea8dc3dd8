"""How somebody fills in a form who wants to break it."""

from hypothesis import strategies as st

from tests.fuzz.html_forms import PageForm
from tests.fuzz.texts import texts

# A field keeps what stood in it, gets one of its options, or a text; a token is only spoilt.
Filling = list[tuple[str, str]]
hows = st.sampled_from(["keep", "option", "text", "text", "text", "spoil"])
fillings: st.SearchStrategy[Filling] = st.lists(st.tuples(hows, texts), min_size=1, max_size=6)
# With what no form shows beside it.
AS_IT_STANDS: Filling = [("keep", "")]
TOKENS = {"csrfmiddlewaretoken", "form_token"}
# No form of a customer has these for what they would do here.
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


def filled(form: PageForm, filling: Filling) -> dict[str, str]:
    fields = {name: value for name, value in EXTRA.items() if name not in form.fields}
    for place, (name, value) in enumerate(form.fields.items()):
        how, text = filling[place % len(filling)]
        options = form.options.get(name)
        if how == "spoil" or (how == "text" and name not in TOKENS):
            fields[name] = text
        elif how == "option" and options:
            fields[name] = options[len(text) % len(options)]
        else:
            fields[name] = value
    return fields
