"""Sign-in, sign-up, passwords and second factors, on top of django-allauth."""
