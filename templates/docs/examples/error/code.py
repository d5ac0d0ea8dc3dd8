from emailvalidation import Client, EmailValidationError

client = Client()
try:
    print(client.validate("insufficient_credits@sandbox.test").verdict)
except EmailValidationError as error:
    print(error.status, error.code)
    print(error.message)
