from emailvalidation import Client

client = Client()
result = client.validate("disposable@sandbox.test")

print(result.verdict, result.reasons[0], result.score)
print("Cost:", result.credits.charged)
