"""Several methods on the same pairs, from arrays: held-out scores, and what the commands make of them."""
