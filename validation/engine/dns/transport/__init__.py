"""Send DNS queries over UDP and TCP, and wait for the replies."""
