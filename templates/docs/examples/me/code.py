from emailvalidation import Client

me = Client().request("GET", "/v1/me").data

print("The key works. Plan:", me["plan"])
