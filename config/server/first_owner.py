import secrets

from django.db import transaction

from accounts.models import User
from accounts.services import create_confirmed_user, open_account, run_email_confirmed_hooks
from apikeys.services import create_key

OWNER = "owner@example.com"


def print_welcome(base_url: str, *, local: bool) -> None:
    if User.objects.exists():
        print(f"\n  Sign in at {base_url}/accounts/login/", flush=True)
    elif local:
        password, key = _create_owner()
        print(
            f"\n  Your owner account. These are shown only once:\n"
            f"    email     {OWNER}\n"
            f"    password  {password}\n"
            f"    API key   {key}\n"
            f"\n  Send your first request:\n"
            f"    curl {base_url}/v1/validate -H 'Authorization: Bearer {key}' "
            "-H 'Content-Type: application/json' -d '{\"email\": \"deliverable@sandbox.test\"}'\n"
            f"\n  Sign in at {base_url}/accounts/login/, staff pages at {base_url}/admin/, "
            f"docs at {base_url}/docs/",
            flush=True,
        )
    else:
        print("\n  There are no users. Create the first: manage.py create_account EMAIL --staff")


@transaction.atomic
def _create_owner() -> tuple[str, str]:
    password = secrets.token_urlsafe(12)
    owner = create_confirmed_user(email=OWNER, password=password, staff=True)
    account = open_account(user=owner)
    run_email_confirmed_hooks(user=owner, by_operator=True)
    _, key = create_key(account=account, name="First key", actor=owner)
    return password, key
