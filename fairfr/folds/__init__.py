"""Protocols: which pairs are fitted on and which are scored."""
