"""Linear algebra on pairs, factored through images."""
