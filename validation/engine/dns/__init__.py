"""Find out where mail to a domain goes, by asking the DNS.

From the wire up: `sockets` and `streams` carry bytes within a `budget`; `messages` encodes queries
and parses replies; `exchange` queries servers until one replies; `cache` stores the replies, and
`resolver` ties these together. `trust` detects dishonest resolvers with the probe names in
`sentinels`. `policies`, `networks` and `providers` interpret the replies, `slots` limits concurrent
lookups, and `mail_route_lookup` is the entry point.
"""
