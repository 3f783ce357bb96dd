"""Stored runs, each read once in one reading: what they are, which of them count, and their numbers."""
