"""Everything around the sign-in that has to hold while strangers flood it: what a password hash may
cost, which browsers go first, and how often a password may be tried."""
