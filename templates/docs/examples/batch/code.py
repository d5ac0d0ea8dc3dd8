from emailvalidation import Client

client = Client()
emails = ["deliverable@sandbox.test", "undeliverable@sandbox.test"]

# Takes any number of addresses, and sends up to 100 in a request.
for result in client.validate_many(emails):
    print(result.email, result.verdict)
