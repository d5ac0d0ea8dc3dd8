"""Build what pages about requests say in each state, so that templates only decide what to show."""
