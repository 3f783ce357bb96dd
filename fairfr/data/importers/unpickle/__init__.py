"""Pickles of strangers, read without running what is in them."""
