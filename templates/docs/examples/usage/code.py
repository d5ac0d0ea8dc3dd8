from emailvalidation import Client

days = Client().usage().days

print("Days:", len(days))
print("Credits:", sum(day.credits for day in days))
