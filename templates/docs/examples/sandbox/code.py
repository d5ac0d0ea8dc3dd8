from emailvalidation import Client, EmailValidationError

client = Client()


def validate(email):
    """Return the verdict or the error code."""
    try:
        return client.validate(email).verdict
    except EmailValidationError as error:
        return error.code


for word in ("deliverable", "mailbox_full", "dns_timeout", "insufficient_credits"):
    print(f"{word}:", validate(f"{word}@sandbox.test"))
