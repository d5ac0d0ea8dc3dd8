"""Authenticator apps, passkeys, and the proof of one of them before sensitive pages."""
