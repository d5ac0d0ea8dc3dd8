"""Where mail to a domain goes, asked of the DNS.

From the wire up: `sockets` and `streams` carry bytes within a `budget`, `messages` reads and writes
them, `exchange` asks servers until one answers, `cache` remembers, `resolver` puts them together;
`trust` finds out by `sentinels` whether a server lies; `policies`, `networks` and `providers` judge
the answers, `slots` limits concurrent lookups, and `routes` is the entry point.
"""
