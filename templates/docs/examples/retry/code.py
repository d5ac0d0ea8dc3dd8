from emailvalidation import Client

# Retries what a retry can help, pays once, and gives up after 30 seconds in all.
client = Client(timeout=30)

print(client.validate("risky@sandbox.test").verdict)
