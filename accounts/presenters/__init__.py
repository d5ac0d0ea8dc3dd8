"""Build what a page says in each state, so that templates only decide what to show where."""
