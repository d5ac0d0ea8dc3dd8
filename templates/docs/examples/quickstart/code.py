from emailvalidation import Client

client = Client()  # Reads SVC_API_KEY and SVC_BASE_URL.
result = client.validate("possible_typo@sandbox.test")

print(result.verdict, result.reason)
print(f"Did you mean {result.did_you_mean}?")
