"""Where mail to a domain goes, asked of the DNS.

From the wire up: `sockets` and `streams` carry bytes, `messages` reads and writes them, `exchange`
asks servers until one answers, `cache` remembers, `resolver` puts them together; `policies`,
`networks` and `providers` judge what came, `slots` lets nobody take all places, and `routes` is the
door.
"""
