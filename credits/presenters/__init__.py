"""Build what billing pages say in each state, so that templates only decide what to show where."""
