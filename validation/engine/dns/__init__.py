"""Look up where mail to a domain is delivered.

From the wire up: `transport` sends queries to servers until one replies, within a message `budget`;
`messages` encodes queries and parses replies, `names` the names in them; `cache` stores the
replies, and `resolver` ties these together. `trust` detects dishonest resolvers by means of
`probe_names`. `networks` and `providers` interpret the replies, and so do `spf` and `dmarc` for
`policies`. `slots` limits concurrent lookups, and `mail_route_lookup` is the entry point.
"""
