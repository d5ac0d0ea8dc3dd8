from typing import Any

from config.settings.environment import Environment

# An address that the provider has verified, and nothing else about the person.
_SCOPES = {"google": ["openid", "email"], "github": ["user:email"]}


def identity_providers(env: Environment) -> dict[str, dict[str, Any]]:
    """Return allauth's settings for the providers that are set up."""
    providers = {}
    for provider, scope in _SCOPES.items():
        prefix = f"{provider.upper()}_CLIENT"
        app = {"client_id": env.text(f"{prefix}_ID"), "secret": env.text(f"{prefix}_SECRET")}
        if all(app.values()):
            providers[provider] = {"APP": app, "SCOPE": scope, "OAUTH_PKCE_ENABLED": True}
        elif any(app.values()):
            env.report(f"{prefix}_ID", f"and {prefix}_SECRET must be set together.")
    return providers
