"""Where mail to a domain goes, asked of the DNS.

From the wire up: `messages` reads and writes, `exchange` sends and waits, `cache` remembers,
`resolver` puts them together, `policies` and `networks` judge what came, `routes` is the door.
"""
