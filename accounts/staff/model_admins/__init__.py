"""The admin classes that accounts/admin.py registers, and their form fields."""
