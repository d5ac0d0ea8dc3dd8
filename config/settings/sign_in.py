AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["accounts.authentication.backends.ConfirmedUsersBackend"]
PASSWORD_HASHERS = ["accounts.authentication.passwords.hashers.Argon2PasswordHasher"]
_VALIDATORS = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": f"{_VALIDATORS}.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("email", "name")},
    },
    {"NAME": f"{_VALIDATORS}.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "accounts.authentication.passwords.common_passwords.GuessablePasswordValidator"},
]
PASSWORD_RESET_TIMEOUT = 60 * 60
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "validation:show-overview"
# The landing page is cached: it can't show messages.
LOGOUT_REDIRECT_URL = "account_login"

ACCOUNT_ADAPTER = "accounts.authentication.adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "accounts.authentication.forms.LoginForm",
    "signup": "accounts.authentication.forms.SignupForm",
    "reset_password": "accounts.authentication.forms.ResetPasswordForm",
    "reset_password_from_key": "accounts.authentication.passwords.forms.ResetPasswordKeyForm",
    "change_password": "accounts.authentication.passwords.forms.ChangePasswordForm",
    "set_password": "accounts.authentication.passwords.forms.SetPasswordForm",
    "add_email": "accounts.authentication.forms.ChangeEmailForm",
    "confirm_email_verification_code": "accounts.authentication.forms.ConfirmEmailForm",
}
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_CONFIRM_EMAIL_ON_GET = False
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
ACCOUNT_EMAIL_VERIFICATION_SUPPORTS_RESEND = True
# The page would reveal which addresses have an account.
ACCOUNT_EMAIL_VERIFICATION_SUPPORTS_CHANGE = False
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_LOGIN_ON_PASSWORD_RESET = False
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 15 * 60
ACCOUNT_SESSION_REMEMBER = True
# Keys: accounts/authentication/rate_limits.py.
ACCOUNT_RATE_LIMITS = {
    # Failed sign-ins only: an office shares one network address.
    "login": None,
    "login_failed": "5/5m/key",
    "login_failed_address": "100/m/ip",
    "login_known": "20/m/key",
    # Others' requests must not keep a user from resetting the password.
    "reset_password": None,
    "reset_email": "5/m/key",
    "reset_email_address": "20/m/ip",
    "provider": "60/m/ip",
    # runtime/mail/recipient_limits.py limits these. This would refuse a sign-up already saved.
    "confirm_email": None,
}
SOCIALACCOUNT_ADAPTER = "accounts.authentication.providers.adapter.ProviderAdapter"
SOCIALACCOUNT_FORMS = {
    "signup": "accounts.authentication.providers.forms.ProviderSignupForm",
    "disconnect": "accounts.authentication.providers.forms.DisconnectForm",
}
# Users who sign up see the terms first.
SOCIALACCOUNT_AUTO_SIGNUP = False
USERSESSIONS_ADAPTER = "accounts.authentication.adapter.SessionsAdapter"

MFA_ADAPTER = "accounts.authentication.adapter.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_FORMS = {
    "authenticate": "accounts.authentication.second_factor.forms.CodeForm",
    "reauthenticate": "accounts.authentication.second_factor.forms.ConfirmCodeForm",
    "authenticate_webauthn": "accounts.authentication.second_factor.forms.PasskeyForm",
    "reauthenticate_webauthn": "accounts.authentication.second_factor.forms.ConfirmPasskeyForm",
    "login_webauthn": "accounts.authentication.second_factor.forms.PasskeySignInForm",
    "add_webauthn": "accounts.authentication.second_factor.forms.AddPasskeyForm",
    "edit_webauthn": "accounts.authentication.second_factor.forms.RenamePasskeyForm",
}

# How long responses take that could reveal whether an address has an account.
RESPONSE_TIME_STEP_SECONDS = 0.5
# For sign-ins beyond the queue's limit.
SIGN_IN_REFUSAL_SECONDS = 6.0
KNOWN_BROWSER_COOKIE_AGE = 180 * 24 * 3600
INVITATION_DAYS = 7
UNCONFIRMED_SIGN_UP_DAYS = 7
CLOSED_ACCOUNT_DAYS = 30
