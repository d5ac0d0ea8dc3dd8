import django
from django import forms
from django.conf import settings
from emailvalidation.django import validate_sign_up_email

settings.configure()  # Your project has settings.
django.setup()


class SignUpForm(forms.Form):
    email = forms.EmailField(validators=[validate_sign_up_email])


form = SignUpForm({"email": "disposable@sandbox.test"})
print(form.errors["email"][0])
