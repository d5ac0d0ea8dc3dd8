from emailvalidation import Client

# Keeps what other programs change at the same time.
Client().domains.deny("spam.example")
print("spam.example is denied")
