"""``fairfr check``: what to know about a data set before anything is computed with it."""
