import uuid

from emailvalidation import Client

client = Client()
# The client makes a key for each call. Choose one if your own job may run twice.
key = str(uuid.uuid4())
first = client.validate("deliverable@sandbox.test", idempotency_key=key)
again = client.validate("deliverable@sandbox.test", idempotency_key=key)

print("Same result" if again.id == first.id else "Another result")
