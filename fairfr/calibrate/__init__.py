"""Calibrators to deploy: fitted on all folds of a cell, saved with their held-out results, used on new pairs."""
