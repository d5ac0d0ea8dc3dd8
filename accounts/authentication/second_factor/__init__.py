"""Authenticator apps, passkeys, and the proof of a second factor before sensitive pages."""
