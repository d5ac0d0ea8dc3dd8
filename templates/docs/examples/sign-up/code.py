from emailvalidation import Client

client = Client()
check = client.sign_up_check("possible_typo@sandbox.test")

if check.suggestion:
    print(f"Did you mean {check.suggestion}?")
print("Welcome." if check.accept else check.message)
