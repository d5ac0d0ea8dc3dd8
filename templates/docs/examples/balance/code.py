from emailvalidation import Client

credits = Client().credits()

print("Balance:", credits.balance)
if credits.balance <= credits.low_balance_threshold:
    print("Running low. Buy credits soon.")
