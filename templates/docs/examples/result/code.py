from emailvalidation import Client

client = Client()
first = client.validate("deliverable@sandbox.test")
again = client.request("GET", f"/v1/validations/{first.id}").data

print(again["verdict"])
