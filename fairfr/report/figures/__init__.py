"""Figures from stored scores and results."""
