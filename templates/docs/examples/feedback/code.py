from emailvalidation import Client

client = Client()
result = client.validate("deliverable@sandbox.test")
feedback = client.request(
    "POST",
    f"/v1/validations/{result.id}/feedback",
    json={"expected": "undeliverable", "bounce": "550 5.1.1 Mailbox does not exist"},
).data

print("State:", feedback["state"])
